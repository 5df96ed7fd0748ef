import { afterAll, expect, vi } from 'vitest'
import type { TestAnswer, TestUser } from './testing/client.ts'
import { WEB_FILES } from './testing/fake-web-app.ts'
import { passLimitTime, passMailLimitTime, signUpEarlier } from './testing/passing-time.ts'
import { from, startAt, verifyAt, wrongCode } from './testing/sign-in-calls.ts'
import { appForFile, testPerNode } from './testing/test-app.ts'

// At the default limits nothing that people do is refused.
const test = testPerNode('limits counted in memory, by each node for itself')

const MINUTE = 60

// No limit in memory earns anything back while a test runs.
vi.useFakeTimers({ toFake: ['performance'] })
afterAll(() => void vi.useRealTimers())
const app = await appForFile({
  config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'] },
  webFiles: WEB_FILES,
})
/** Each test has a person and a network of its own. */
let number = 0
let home: string
let email: string
test.beforeEach(() => {
  number += 1
  home = `192.0.2.${number}`
  email = `olga-${number}@example.org`
})

/** Passes time of the limits that a node counts in memory, and of those in the database. */
async function pass(seconds: number): Promise<void> {
  vi.advanceTimersByTime(seconds * 1000)
  await passMailLimitTime(app, seconds)
}

function served(answer: TestAnswer): TestAnswer {
  expect([answer.status, answer.body?.message]).toEqual([answer.status, undefined])
  expect(answer.status).toBeLessThan(400)
  return answer
}

type Path = '/registrations' | '/logins'

async function ask(path: Path, clientToken: string, { ip = home, email: to = email } = {}) {
  return served(await startAt(app, path, { email: to, clientToken, ip })).body.id as string
}

/** Asks for a code and enters it. Returns the token. */
async function signIn(path: Path, clientToken: string, who: { ip?: string; email?: string } = {}) {
  const id = await ask(path, clientToken, who)
  const guess = { id, code: app.codeFor(id), clientToken, ip: who.ip ?? home }
  return served(await verifyAt(app, path, guess)).body.accessToken.token as string
}

async function publish({ token }: Pick<TestUser, 'token'>, text: string, path = '/posts') {
  return served(await app.call('POST', path, { token, body: { text }, ...from(home) })).body
}

test('somebody registers on a laptop, signs in on a phone of the same network at once, and on a tablet two minutes later', async () => {
  await signIn('/registrations', 'laptop')
  await signIn('/logins', 'phone')
  await pass(2 * MINUTE)
  await signIn('/logins', 'tablet')
})

test('somebody starts in an app’s browser, leaves, and registers in the real one', async () => {
  await ask('/registrations', 'in-app browser')
  await pass(MINUTE)
  await signIn('/registrations', 'real browser')
  await signIn('/logins', 'in-app browser')
})

test('somebody signs in in three private windows', async () => {
  await signIn('/registrations', 'browser')
  for (const window of ['first', 'second', 'third']) await signIn('/logins', window)
})

test('somebody logs out and in three times within an hour', async () => {
  let token = await signIn('/registrations', 'browser')
  for (let time = 0; time < 3; time++) {
    served(await app.call('DELETE', '/sessions/current', { token, ...from(home) }))
    await pass(15 * MINUTE)
    token = await signIn('/logins', 'browser')
  }
})

test('the mail does not come: the code is sent four times, a minute apart', async () => {
  const ids = new Set<string>()
  for (let time = 0; time < 4; time++) {
    ids.add(await ask('/registrations', 'browser'))
    await pass(MINUTE)
  }
  expect(ids.size).toBe(1)
  const [id = ''] = ids
  const codes = app.db.selectFrom('codes').select('mails').where('id', '=', id)
  expect(await codes.execute()).toEqual([{ mails: 4 }])
  const guess = { id, code: app.codeFor(id), clientToken: 'browser', ip: home }
  served(await verifyAt(app, '/registrations', guess))
})

test('somebody mistypes the address twice and the code once', async () => {
  for (const typo of ['olga@exmaple.org', 'olag@example.org']) {
    await ask('/registrations', 'browser', { email: typo })
  }
  const id = await ask('/registrations', 'browser')
  const guess = { id, code: app.codeFor(id), clientToken: 'browser', ip: home }
  const wrong = await verifyAt(app, '/registrations', { ...guess, code: wrongCode(guess.code) })
  expect(wrong.body.code).toBe('INVALID_CONFIRM_CODE')
  served(await verifyAt(app, '/registrations', guess))
})

test('fifty people behind one address try to sign in and register within ten minutes', async () => {
  for (let person = 0; person < 50; person++) {
    const who = { email: `person-${person}@example.org` }
    const unknown = await startAt(app, '/logins', { ...who, clientToken: 'browser', ip: home })
    expect(unknown.body.code).toBe('USER_NOT_FOUND')
    await signIn('/registrations', `browser ${person}`, who)
    // The codes need not get older, which would wait for their mails.
    vi.advanceTimersByTime(12_000)
    await passLimitTime(app, 12)
  }
})

test('somebody mistypes a digit, and the address changes in between, after a stranger has tried two codes', async () => {
  await signIn('/registrations', 'browser')
  /** Enters wrong codes, and then the right one from another address. */
  async function mistype(clientToken: string, ip: string, { times = 1, to = ip } = {}) {
    await pass(MINUTE)
    const id = await ask('/logins', clientToken, { ip })
    const guess = { id, clientToken, ip }
    for (const left of [/ь 4/, /ь 3/, /ь 2/, /ась 1/, /больше нет/].slice(0, times)) {
      const wrong = { ...guess, code: wrongCode(app.codeFor(id)) }
      expect((await verifyAt(app, '/logins', wrong)).body.message).toMatch(left)
    }
    return verifyAt(app, '/logins', { ...guess, code: app.codeFor(id), ip: to })
  }
  for (const code of ['first', 'second']) {
    const refused = await mistype(`stranger’s ${code}`, '198.51.100.7', { times: 5 })
    expect(refused.body.code).toBe('MAX_CONFIRM_ATTEMPTS')
  }
  served(await mistype('laptop', '203.0.113.5', { times: 0, to: '203.0.113.6' }))
  served(await mistype('phone', '203.0.113.9', { times: 4, to: '203.0.113.10' }))
  served(await mistype('private window', home, { times: 4 }))
})

test('a newcomer publishes, and answers five questions within three minutes', async () => {
  const token = await signIn('/registrations', 'browser')
  const post = await publish({ token }, 'Спрашивайте')
  for (let answer = 0; answer < 5; answer++) {
    await pass(30)
    await publish({ token }, 'Отвечаю', `/posts/${post.id}/replies`)
  }
})

test('somebody known answers ten people in a minute', async () => {
  const user = await signUpEarlier(app)
  const post = await publish(user, 'Спрашивайте')
  for (let answer = 0; answer < 10; answer++) {
    await pass(6)
    await publish(user, 'Отвечаю', `/posts/${post.id}/replies`)
  }
})

test('a newcomer gives sixty hearts in a minute, tries twelve names, searches eight times in ten seconds and reports five posts', async () => {
  const author = await signUpEarlier(app)
  const posts: string[] = []
  for (let n = 0; n < 5; n++) posts.push((await publish(author, `Запись номер ${n}`)).id)
  const token = await signIn('/registrations', 'browser')
  const call = async (method: string, path: string) =>
    served(await app.call(method, path, { token, ...from(home) }))
  for (let heart = 0; heart < 60; heart++) {
    await call(heart % 2 ? 'DELETE' : 'POST', `/posts/${posts[heart % 5]}/likes`)
    await call('POST', `/posts/${posts[heart % 5]}/likes`)
  }
  for (let name = 0; name < 12; name++) await call('GET', `/users/olga_${name}/validation`)
  for (let search = 0; search < 8; search++) await call('GET', '/posts/search?q=запись')
  const { body } = await call('GET', '/reports/reasons')
  for (const id of posts) {
    await call('POST', `/posts/${id}/reports?reason_id=${body.reasons[0].id}`)
  }
})

test('four colleagues behind one address search eight times each within ten seconds', async () => {
  for (const colleague of ['olga', 'petr', 'ira', 'anna']) {
    const token = await signIn('/registrations', colleague, { email: `${colleague}@example.org` })
    for (let search = 0; search < 8; search++) {
      const page = await fetch(`${app.url}/search?q=${colleague}`, from(home))
      expect([page.status, await page.text()]).toEqual([200, expect.any(String)])
      served(await app.call('GET', `/posts/search?q=${colleague}`, { token, ...from(home) }))
    }
  }
})

test('thirty people read behind one address', async () => {
  const author = await signUpEarlier(app)
  const posts: string[] = []
  for (let n = 0; n < 5; n++) posts.push((await publish(author, `Запись ${n}`)).id)
  const paths = ['/', ...posts.map((id) => `/posts/${id}`), '/search?q=запись']
  for (let person = 0; person < 30; person++) {
    for (const path of paths.slice(0, person % 4 === 0 ? 7 : 6)) {
      const response = await fetch(app.url + path, from(home))
      await response.text()
      expect([path, response.status]).toEqual([path, 200])
    }
    for (const path of ['/posts', `/posts/${posts[0]}/replies`]) {
      served(await app.call('GET', path, from(home)))
    }
    await pass(1)
  }
})
