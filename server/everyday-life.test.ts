import { afterAll, expect, vi } from 'vitest'
import {
  clientHeaders,
  type Path,
  startAt,
  verifyAt,
  wrongCode,
} from './testing/calls/sign-in-calls.ts'
import { passLimitTime, passMailLimitTime, signUpEarlier } from './testing/database/passing-time.ts'
import { browserOf, type TestAnswer } from './testing/http/client.ts'
import { appForFile, testPerNode } from './testing/test-app.ts'

// At the default limits nothing that people do is refused.
const test = testPerNode('limits counted in memory, by each node for itself')

const MINUTE = 60
const HOUR = 3600

// No limit in memory earns anything back while a test runs.
vi.useFakeTimers({ toFake: ['performance'] })
afterAll(() => void vi.useRealTimers())
const app = await appForFile({
  config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'] },
})
/** Each test has a person and a network of its own. */
let number = 0
let home: string
let email: string
/** What each browser keeps, by its clientToken. */
let cookies: Map<string, string>
test.beforeEach(() => {
  cookies = new Map()
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
  return answer
}

async function ask(path: Path, clientToken: string, { ip = home, to = email } = {}) {
  const browser = cookies.get(clientToken) ?? ''
  const started = served(await startAt(app, path, { email: to, clientToken, ip, browser }))
  keepCookie(clientToken, started)
  return started.body.id as string
}

/** Enters a code, the right one unless another is given. */
async function enter(path: Path, id: string, clientToken: string, { ip = home, code = '' } = {}) {
  const browser = cookies.get(clientToken) ?? ''
  const guess = { id, code: code || app.codeFor(id), clientToken, ip, browser }
  return keepCookie(clientToken, await verifyAt(app, path, guess))
}

function keepCookie(clientToken: string, answer: TestAnswer): TestAnswer {
  const browser = browserOf(answer)
  if (browser) cookies.set(clientToken, browser)
  return answer
}

/** Asks for a code and enters it. Returns the token. */
async function signIn(path: Path, clientToken: string, to = email): Promise<string> {
  const id = await ask(path, clientToken, { to })
  return served(await enter(path, id, clientToken)).body.accessToken.token
}

async function publish(token: string, text: string, path = '/posts') {
  return served(await app.call('POST', path, { token, body: { text }, ...clientHeaders(home) }))
    .body
}

/** Publishes five posts by somebody known. Returns their ids. */
async function publishFive(): Promise<string[]> {
  const { token } = await signUpEarlier(app)
  const posts: string[] = []
  while (posts.length < 5) posts.push((await publish(token, `Запись ${posts.length}`)).id)
  return posts
}

test('somebody starts in an app’s browser, leaves, and registers in the real one', async () => {
  await ask('/registrations', 'in-app browser')
  await pass(MINUTE)
  await signIn('/registrations', 'real browser')
  await signIn('/logins', 'in-app browser')
})

test('somebody registers and signs in at once on three more devices, or in private windows, of the same network', async () => {
  await signIn('/registrations', 'browser')
  for (const device of ['phone', 'tablet', 'private window']) await signIn('/logins', device)
})

test('somebody logs out and in three times within an hour', async () => {
  let token = await signIn('/registrations', 'browser')
  for (let time = 0; time < 3; time++) {
    served(await app.call('DELETE', '/sessions/current', { token, ...clientHeaders(home) }))
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
  const [id = '', ...others] = ids
  expect(others).toEqual([])
  const mails = await app.sql`SELECT FROM codes, jsonb_to_recordset(charges) AS charge (key text)
    WHERE id = ${id} AND key LIKE 'code-mail/60 %'`
  expect(mails).toHaveLength(4)
  served(await enter('/registrations', id, 'browser'))
})

test('somebody mistypes the address twice and the code once', async () => {
  for (const to of ['olga@exmaple.org', 'olag@example.org']) {
    await ask('/registrations', 'browser', { to })
  }
  const id = await ask('/registrations', 'browser')
  const code = wrongCode(app.codeFor(id))
  const wrong = await enter('/registrations', id, 'browser', { code })
  expect(wrong.body.code).toBe('INVALID_CONFIRM_CODE')
  served(await enter('/registrations', id, 'browser'))
})

test('fifty people behind one address, ten of whom have an account, try to sign in and then register within ten minutes', async () => {
  for (let person = 0; person < 50; person++) {
    const to = `person-${person}@example.org`
    if (person % 5 === 0) await app.signIn(to)
    else {
      const unknown = await startAt(app, '/logins', { email: to, ip: home })
      expect(unknown.body.code).toBe('USER_NOT_FOUND')
    }
    await signIn(person % 5 === 0 ? '/logins' : '/registrations', `browser ${person}`, to)
    // The codes need not get older, which would wait for their mails.
    vi.advanceTimersByTime(12_000)
    await passLimitTime(app, 12)
  }
})

test('thirty people of one office with its own domain register in half an hour, and on that evening each writes two posts and eight replies to the others', async () => {
  const people: { token: string; post: string }[] = []
  for (let person = 0; person < 30; person++) {
    const token = await signIn(
      '/registrations',
      `phone ${person}`,
      `person-${person}@office.example`,
    )
    people.push({ token, post: (await publish(token, 'Я тоже здесь')).id })
    vi.advanceTimersByTime(MINUTE * 1000)
    await passLimitTime(app, MINUTE)
  }
  for (let hour = 0; hour < 4; hour++) {
    vi.advanceTimersByTime(HOUR * 1000)
    await passLimitTime(app, HOUR)
    for (const [at, { token }] of people.entries()) {
      const answered = [1, 2].flatMap((next) => people[(at + next + hour) % people.length] ?? [])
      const paths = answered.map(({ post }) => `/posts/${post}/replies`)
      if (at % 4 === hour) paths.push('/posts')
      await Promise.all(paths.map((path) => publish(token, 'Вот и вечер', path)))
    }
  }
})

test('thirty people who have registered behind one address publish their first posts within seconds', async () => {
  const tokens: string[] = []
  for (let person = 0; person < 30; person++) {
    tokens.push(
      await signIn('/registrations', `laptop ${person}`, `person-${person}@school.example`),
    )
    vi.advanceTimersByTime(12_000)
    await passLimitTime(app, 12)
  }
  for (const token of tokens) await publish(token, 'Привет')
})

test('somebody mistypes a digit, and the address changes in between, after a stranger has tried two codes', async () => {
  await signIn('/registrations', 'browser')
  /** Enters wrong codes, and then the right one from another address. */
  async function mistype(clientToken: string, ip: string, { times = 1, to = ip } = {}) {
    await pass(MINUTE)
    const id = await ask('/logins', clientToken, { ip })
    const code = wrongCode(app.codeFor(id))
    for (const left of [/ь 4/, /ь 3/, /ь 2/, /ась 1/, /больше нет/].slice(0, times)) {
      expect((await enter('/logins', id, clientToken, { ip, code })).body.message).toMatch(left)
    }
    return enter('/logins', id, clientToken, { ip: to })
  }
  for (const code of ['first', 'second']) {
    const refused = await mistype(`stranger’s ${code}`, '198.51.100.7', { times: 5 })
    expect(refused.body.code).toBe('MAX_CONFIRM_ATTEMPTS')
  }
  served(await mistype('laptop', '203.0.113.5', { times: 0, to: '203.0.113.6' }))
  served(await mistype('phone', '203.0.113.9', { times: 4, to: '203.0.113.10' }))
  served(await mistype('private window', home, { times: 4 }))
})

test.each([
  ['a newcomer publishes, and answers five questions within three minutes', 5, 30],
  ['somebody known answers ten people in a minute', 10, 6],
])('%s', async (who, answers, seconds) => {
  const isNew = who.startsWith('a newcomer')
  const token = isNew ? await signIn('/registrations', 'browser') : (await signUpEarlier(app)).token
  const post = await publish(token, 'Спрашивайте')
  for (let answer = 0; answer < answers; answer++) {
    await pass(seconds)
    await publish(token, 'Отвечаю', `/posts/${post.id}/replies`)
  }
})

test('a newcomer gives sixty hearts in a minute, tries twelve names, searches eight times in ten seconds and reports five posts', async () => {
  const posts = await publishFive()
  const token = await signIn('/registrations', 'browser')
  const call = async (method: string, path: string) =>
    served(await app.call(method, path, { token, ...clientHeaders(home) }))
  for (let heart = 0; heart < 60; heart++) {
    await call(heart % 2 ? 'DELETE' : 'POST', `/posts/${posts[heart % 5]}/likes`)
    await call('POST', `/posts/${posts[heart % 5]}/likes`)
  }
  for (let name = 0; name < 12; name++) await call('GET', `/users/olga_${name}/validation`)
  for (let search = 0; search < 8; search++) await call('GET', '/posts/search?q=запись')
  for (const id of posts) await call('POST', `/posts/${id}/reports?reason_id=1`)
})

test('four colleagues behind one address search eight times each within ten seconds', async () => {
  for (const colleague of ['olga', 'petr', 'ira', 'anna']) {
    const token = await signIn('/registrations', colleague, `${colleague}@example.org`)
    for (let search = 0; search < 8; search++) {
      const page = await fetch(`${app.url}/search?q=${colleague}`, clientHeaders(home))
      expect([page.status, await page.text()]).toEqual([200, expect.any(String)])
      served(
        await app.call('GET', `/posts/search?q=${colleague}`, { token, ...clientHeaders(home) }),
      )
    }
  }
})

test('thirty people read behind one address', async () => {
  const posts = await publishFive()
  const paths = ['/', ...posts.map((id) => `/posts/${id}`), '/search?q=запись']
  for (let person = 0; person < 30; person++) {
    for (const path of paths.slice(0, person % 4 === 0 ? 7 : 6)) {
      const response = await fetch(app.url + path, clientHeaders(home))
      await response.text()
      expect([path, response.status]).toEqual([path, 200])
    }
    for (const path of ['/posts', `/posts/${posts[0]}/replies`]) {
      served(await app.call('GET', path, clientHeaders(home)))
    }
    await pass(1)
  }
})
