import { expect } from 'vitest'
import { countCodes } from '../../testing/calls/sign-in-calls.ts'
import { signUpEarlier, stopClock } from '../../testing/database/passing-time.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/http/expect-refusal.ts'
import { appForTest, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('limits counted in memory, by each node for itself')

test('five edits pass in a burst, then one in 2 s, counted apart from posts; a refused text is not counted', async () => {
  stopClock()
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const olga = await signUpEarlier(app)
  const { token } = olga
  const { id } = await app.publish(olga)
  const edit = (text: string) => app.call('PATCH', `/posts/${id}`, { token, body: { text } })
  for (let turn = 0; turn < 6; turn++) expectRefusal(await edit('\u200b'), 'INVALID_REQUEST')
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => edit(`Правка ${n}`)))
  expect(countCodes(answers)).toEqual({ ok: 5, TOO_MANY_REQUESTS: 1 })
  expectTooMany(await edit('Ещё одна'), { most: 2 })
  expect((await app.call('POST', '/posts', { token, body: { text: 'Новая' } })).status).toBe(201)
})

test('300 likes a day, and then one in 288 s; unlikes, failed likes and other users are not counted', async () => {
  stopClock()
  // A fifth: 60, and then one in 24 minutes.
  const app = await appForTest({ config: { rateLimitScale: 0.2 } })
  const [olga, petr] = [await signUpEarlier(app), await signUpEarlier(app)]
  const { id } = await app.publish(olga)
  const like = ({ token }: TestUser, method = 'POST', post = id) =>
    app.call(method, `/posts/${post}/likes`, { token })
  expectRefusal(await like(olga, 'POST', 'abc'), 'POST_NOT_FOUND')
  for (let n = 0; n < 60; n++) expect((await like(olga)).status).toBe(200)
  expectTooMany(await like(olga), { least: 23 * 60, most: 24 * 60 })
  expect((await like(olga, 'DELETE')).status).toBe(200)
  expect((await like(petr)).body).toEqual({ likes_count: 1 })
})

test('all calls of a visitor’s address: 3,000 in 5 minutes, whatever is called, also what nothing serves, with guessed tokens, and whatever X-Forwarded-For claims; users go on', async () => {
  stopClock()
  const app = await appForTest({ config: { rateLimitScale: 0.005 } })
  const { token } = await signUpEarlier(app)
  const paths = ['/posts', '/nope', '/posts?limit=5']
  const ask = (n: number) =>
    app.call('GET', paths[n % 3] ?? '', {
      headers: { 'x-forwarded-for': `198.51.100.${n}` },
      ...(n % 2 === 1 && { token: `guess-${n}` }),
    })
  // Two calls went to signing up.
  for (let n = 2; n < 15; n++) {
    expect((await ask(n)).status).toBe(n % 3 === 1 ? 404 : n % 2 ? 401 : 200)
  }
  for (const n of [15, 16]) expectTooMany(await ask(n), { most: 20 })
  expect((await app.call('GET', '/posts', { token })).status).toBe(200)
})

test('pages, files and the API’s document: 9,000 in 5 minutes for an address, apart from its calls', async () => {
  stopClock()
  // A five-hundredth: 18 for pages and files, 6 for a visitor's calls.
  const app = await appForTest({ config: { rateLimitScale: 0.002 } })
  const paths = ['/liked', '/nowhere', '/assets/index.js', '/robots.txt', '/api/v1/openapi.json']
  const passes = [200, 404, 200, 200, 200]
  for (let n = 0; n < 18; n++) {
    expect((await fetch(app.url + paths[n % 5])).status).toBe(passes[n % 5])
  }
  for (const path of paths) {
    const refused = await fetch(app.url + path)
    const { status, headers } = refused
    expectTooMany({ status, headers, body: await refused.json() }, { most: 17 })
  }
  expect((await app.call('GET', '/posts')).status).toBe(200)
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)
})
