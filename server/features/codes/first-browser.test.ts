import { expect, test } from 'vitest'
import { newEmail } from '../../testing/calls/account-fixture.ts'
import { type Path, startAt, verifyAt, wrongCode } from '../../testing/calls/sign-in-calls.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import { browserOf, type TestAnswer } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
const [HOME, MOBILE, ELSEWHERE] = ['192.0.2.1', '198.51.100.7', '203.0.113.9']
const PATHS: Path[] = ['/logins', '/registrations']

const emailFor = async (path: Path) =>
  path === '/logins' ? (await app.signUp()).email : newEmail()
const knownBrowsers = async () => (await app.sql`SELECT FROM known_clients`).length

/** Starts as a browser without a cookie does. */
async function startFresh(path: Path, email: string, ip = HOME) {
  const answer = await startAt(app, path, { email, ip })
  expect(answer.status).toBe(201)
  const { id } = answer.body
  return { id: id as string, browser: browserOf(answer), wrong: wrongCode(app.codeFor(id)) }
}

type Started = Awaited<ReturnType<typeof startFresh>>

test.each(PATHS)(
  'a stranger elsewhere with the same clientToken gets another operation by %s, and spends no attempt of the owner’s',
  async (path) => {
    const email = await emailFor(path)
    const { id, browser, wrong } = await startFresh(path, email)
    const theirs = await startFresh(path, email, ELSEWHERE)
    expect(theirs.id).not.toBe(id)
    for (const cookie of ['', theirs.browser]) {
      for (let time = 0; time < 5; time++) {
        const guess = await verifyAt(app, path, { id, code: wrong, ip: ELSEWHERE, browser: cookie })
        expectRefusal(guess, 'OPERATION_EXPIRED')
      }
    }
    expectRefusal(await verifyAt(app, path, { id, ip: ELSEWHERE }), 'OPERATION_EXPIRED')
    expect((await verifyAt(app, path, { id, ip: HOME, browser })).status).toBe(200)
  },
)

test.each(PATHS)(
  'a browser that keeps the cookie of its start by %s may change its network',
  async (path) => {
    const email = await emailFor(path)
    const { id, browser } = await startFresh(path, email)
    const again = await startAt(app, path, { email, ip: MOBILE, browser })
    expect(again.body.id).toBe(id)
    expect(browserOf(again)).toBe('')
    const mail = { body: { clientToken: 'one browser' }, headers: { cookie: browser } }
    const asked = await app.call('POST', `/codes/${id}/mail`, {
      ...mail,
      headers: { ...mail.headers, 'x-forwarded-for': MOBILE },
    })
    expect(asked.status).toBe(200)
    for (const ip of [MOBILE, ELSEWHERE]) {
      expect((await verifyAt(app, path, { id, ip, browser })).status).toBe(200)
    }
  },
)

test.each(PATHS)(
  'a client without cookies starts and verifies by %s in one network',
  async (path) => {
    const email = await emailFor(path)
    const { id } = await startFresh(path, email)
    expect((await startFresh(path, email)).id).toBe(id)
    expectRefusal(await verifyAt(app, path, { id, ip: MOBILE }), 'OPERATION_EXPIRED')
    const [first, again] = [
      await verifyAt(app, path, { id, ip: HOME }),
      await verifyAt(app, path, { id, ip: HOME }),
    ]
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.headers.getSetCookie()).toEqual(first.headers.getSetCookie())
  },
)

test('starts at once by a double click or two tabs of a new browser get one operation and one cookie', async () => {
  const email = newEmail()
  const start = () => startFresh('/registrations', email)
  const started = await atOnce(Array<typeof start>(10).fill(start))
  const [{ id, browser }] = started as [Started]
  expect(new Set(started.map((one) => `${one.id} ${one.browser}`)).size).toBe(1)
  expect((await verifyAt(app, '/registrations', { id, ip: MOBILE, browser })).status).toBe(200)
})

test('two tabs of a new browser with different e-mails both go on, although one cookie replaces the other', async () => {
  const [one, other] = [
    await startFresh('/registrations', newEmail()),
    await startFresh('/registrations', newEmail()),
  ]
  const { browser } = other
  expect(browser).not.toBe(one.browser)
  for (const { id } of [one, other]) {
    expect((await verifyAt(app, '/registrations', { id, ip: HOME, browser })).status).toBe(200)
  }
})

test('a browser is known only by the cookie that a verified code sets, not by that of the start', async () => {
  const { email } = await app.signUp()
  const before = await knownBrowsers()
  const { id, browser } = await startFresh('/logins', email)
  expect(await knownBrowsers()).toBe(before)
  const knownBy = async (id: string) =>
    (await app.sql<{ known_by: string }>`SELECT known_by FROM codes WHERE id = ${id}`)[0]?.known_by
  expect(await knownBy(id)).toBeNull()
  const verified: TestAnswer = await verifyAt(app, '/logins', { id, ip: HOME, browser })
  const own = browserOf(verified)
  expect(own).not.toBe(browser)
  expect(await knownBrowsers()).toBe(before + 1)
  for (const [cookie, known] of [
    [own, 'browser'],
    [browser, null],
  ] as const) {
    const { body } = await startAt(app, '/logins', { email, ip: ELSEWHERE, browser: cookie })
    expect(await knownBy(body.id)).toBe(known)
  }
})

test('a signed-in client without the cookie gets one with the start of an e-mail change and of a deletion', async () => {
  const { token, clientToken } = await app.signUp()
  const email = newEmail()
  const calls: [method: string, path: string, fields: object][] = [
    ['PUT', '/users/current/email', { email }],
    ['POST', '/users/current/deletion', {}],
  ]
  for (const [method, path, fields] of calls) {
    const started = await app.call(method, path, { token, body: { ...fields, clientToken } })
    const { id } = started.body
    const verify = (headers: Record<string, string>) =>
      app.call(method, `${path}/${id}/verify`, {
        token,
        body: { confirmCode: app.codeFor(id), clientToken },
        headers: { 'x-forwarded-for': MOBILE, ...headers },
      })
    expectRefusal(await verify({}), 'OPERATION_EXPIRED')
    expect((await verify({ cookie: browserOf(started) })).status).toBe(200)
  }
})
