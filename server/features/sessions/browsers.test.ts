import { expect, test } from 'vitest'
import { changeEmail, undoChange } from '../../testing/calls/email-change-calls.ts'
import { wrongCode } from '../../testing/calls/sign-in-calls.ts'
import type { TestAnswer } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { envOf, runHere } from '../../testing/process/run-command.ts'
import { appForFile, appForTest, mailAppForTest, TEST_SITE } from '../../testing/test-app.ts'
import { cookieOf } from './cookie.ts'
import { openBrowser } from './sessions.fixture.ts'

const EMAIL = 'olga@example.org'
const DAY = 86_400

const app = await appForFile()

test('a browser that has lost its clientToken refreshes by its cookie alone, and whatever token it has then', async () => {
  const laptop = openBrowser(app, { email: EMAIL, clientToken: 'laptop' })
  await laptop.signIn('/registrations')
  expectRefusal(await laptop.refresh({ clientToken: 'another' }), 'UNAUTHORIZED')
  expect((await laptop.refresh({})).status).toBe(200)
  expect((await laptop.refresh({ clientToken: 'another' })).status).toBe(200)
  expect((await laptop.refresh()).status).toBe(200)

  expectRefusal(await laptop.refresh({}, ''), 'INVALID_REQUEST')
  expectRefusal(await laptop.refresh({ clientToken: 'another' }, ''), 'UNAUTHORIZED')
  const unknown = `${cookieOf('browser', TEST_SITE).name}=${'x'.repeat(43)}`
  expectRefusal(await laptop.refresh({}, unknown), 'UNAUTHORIZED')
})

test('a stranger who computes the owner’s clientToken gets an operation of their own, and is not known', async () => {
  const owner = openBrowser(app, { email: EMAIL, clientToken: 'a fingerprint' })
  await owner.signIn('/registrations')
  const own = (await owner.start('/logins')).body.id
  const stranger = openBrowser(app, { email: EMAIL, clientToken: 'a fingerprint' })
  const { id } = (await stranger.start('/logins')).body
  expect(id).not.toBe(own)
  const wrong = wrongCode(app.codeFor(own))
  for (let attempt = 0; attempt < 5; attempt++) await stranger.verify('/logins', id, wrong)
  expectRefusal(await stranger.verify('/logins', own), 'OPERATION_EXPIRED')
  expect((await owner.verify('/logins', own)).status).toBe(200)
})

test('the next sign-in of a browser whose session was closed, alone, with all others, by the undo of an e-mail change or by the operator, is announced again', async () => {
  const { app, mailbox } = await mailAppForTest()
  const owner = openBrowser(app, { email: EMAIL, clientToken: 'laptop' })
  const thief = openBrowser(app, { email: EMAIL, clientToken: 'phone' })
  const signedUp = await owner.signIn('/registrations')
  const { token } = signedUp.body.accessToken
  const notices = () => mailbox.mails.filter(({ subject }) => /нового устройства/.test(subject))
  let announced = 0
  const expectAnnounced = async (browser: typeof thief) => {
    await browser.signIn()
    await expect.poll(() => notices().length).toBe(++announced)
  }
  await expectAnnounced(thief)
  const { body } = await app.call('GET', '/sessions', { token })
  await app.call('DELETE', `/sessions/${body.sessions[1].id}`, { token })
  await expectAnnounced(thief)
  await app.call('DELETE', '/sessions', { token })
  // The browser that closed the session is known as before.
  await owner.signIn()
  await expectAnnounced(thief)

  const { body: user } = await app.call('GET', '/users/current', { token })
  const hers = { ...user, token, clientToken: 'laptop', cookie: '', browser: '' }
  await undoChange(app, await changeEmail(app, hers, 'thief@example.org'))
  await expectAnnounced(thief)
  expect((await runHere(envOf(app), ['user', EMAIL, 'sign-out', '--yes'])).code).toBe(0)
  await expectAnnounced(thief)
})

/** Returns each cookie that an answer sets: its name, its value, and its sorted attributes. */
function cookiesOf({ headers }: TestAnswer) {
  return headers.getSetCookie().map((line) => {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split('=')
    return { name, value, attributes: attributes.sort() }
  })
}

test.each([
  ['http://vsluh.example', ['vslukh-session', 'vslukh-browser'], []],
  // Ports of one host share its cookies.
  ['http://vsluh.example:3000', ['vslukh-session-3000', 'vslukh-browser-3000'], []],
  // Unset, as for two walls that are tried on one machine: their own ports tell them apart.
  [undefined, ['vslukh-session-4710', 'vslukh-browser-4710'], []],
  ['https://vsluh.example', ['__Host-session', '__Host-browser'], ['Secure']],
])(
  'with %s as PUBLIC_URL a sign-in sets random cookies, of the session for 30 days and of the browser for 180; logging out clears the former',
  async (publicUrl, names, more) => {
    const app = await appForTest({ config: { publicUrl, port: 4710 } })
    const laptop = openBrowser(app, { email: EMAIL, clientToken: 'laptop' })
    const attributes = ['HttpOnly', 'Path=/', 'SameSite=Strict', ...more]
    const lasting = (days: number) => [...attributes, `Max-Age=${days * DAY}`].sort()
    const first = await laptop.signIn('/registrations')
    const [session, browser] = cookiesOf(first)
    expect(session).toMatchObject({ name: names[0], attributes: lasting(30) })
    const { components } = (await app.call('GET', '/openapi.json')).body
    expect(components.securitySchemes.cookie).toMatchObject({ in: 'cookie', name: session?.name })
    expect(Buffer.from(session?.value.split('.')[1] ?? '', 'base64url')).toHaveLength(32)
    expect(browser).toEqual({
      name: names[1],
      value: expect.stringMatching(/^[\w-]{43}$/),
      attributes: lasting(180),
    })
    expect(cookiesOf(await laptop.signIn())[1]).toEqual(browser)

    const { token } = first.body.accessToken
    const [cleared] = cookiesOf(await app.call('DELETE', '/sessions/current', { token }))
    expect(cleared).toMatchObject({ name: names[0], value: '' })
    expect(cleared?.attributes).toEqual(expect.arrayContaining(attributes))
    expect(cleared?.attributes.join()).toMatch(/Expires=Thu, 01 Jan 1970|Max-Age=0/)
  },
)
