import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { TestAnswer } from '../../testing/client.ts'
import { expectRefusal, expectTooMany } from '../../testing/expect-refusal.ts'
import { signUpEarlier, stopClock } from '../../testing/passing-time.ts'
import { appForTest, testPerNode } from '../../testing/test-app.ts'

const test = testPerNode('limits counted in memory, by each node for itself')

/** Repeats a call until it is rate limited; returns how many calls were served, and the refusal. */
async function callsBefore429(call: () => Promise<TestAnswer>, most = 400) {
  for (let served = 0; served <= most; served++) {
    const answer = await call()
    if (answer.status === 429) return { served, refusal: answer }
    expect(answer.status).toBeLessThan(400)
  }
  throw new Error(`${most} calls were served`)
}

test('five posts and replies pass in a burst, the sixth is 429 and may be retried within 5 s', async () => {
  stopClock()
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const { token } = await signUpEarlier(app)
  const body = { text: 'Скорей' }
  const first = await app.call('POST', '/posts', { token, body })
  const paths = ['/posts', `/posts/${first.body.id}/replies`]
  let turn = 0
  const { served, refusal } = await callsBefore429(() =>
    app.call('POST', paths[turn++ % 2] ?? '', { token, body }),
  )
  expect(served + 1).toBe(5)
  expectTooMany(refusal, { most: 5 })
  expect((await app.call('GET', '/posts')).body.total).toBe(3)

  const other = await signUpEarlier(app)
  expect((await app.call('POST', '/posts', { token: other.token, body })).status).toBe(201)
})

test('texts that are refused do not count against the good ones that follow', async () => {
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const { token } = await signUpEarlier(app)
  const first = await app.call('POST', '/posts', { token, body: { text: 'Первая' } })
  const replies = `/posts/${first.body.id}/replies`
  for (const path of ['/posts', replies, '/posts', replies, '/posts', replies]) {
    expectRefusal(
      await app.call('POST', path, { token, body: { text: '\u0301' } }),
      'INVALID_REQUEST',
    )
  }
  const good = { token, body: { text: 'Шестая, хорошая' } }
  expect((await app.call('POST', '/posts', good)).status).toBe(201)
  expect((await app.call('POST', replies, good)).status).toBe(201)
})

test('five edits pass in a burst, then one in 2 s, counted apart from posts; a refused text is not counted', async () => {
  stopClock()
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const olga = await signUpEarlier(app)
  const { token } = olga
  const { id } = await app.publish(olga)
  const edit = (text: string) => app.call('PATCH', `/posts/${id}`, { token, body: { text } })
  for (let turn = 0; turn < 6; turn++) expectRefusal(await edit('\u200b'), 'INVALID_REQUEST')
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => edit(`Правка ${n}`)))
  const served = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status === 429)
  expect([served.length, refused.length]).toEqual([5, 1])
  for (const refusal of refused) expectTooMany(refusal, { most: 2 })
  const { text } = (await app.call('GET', `/posts/${id}`)).body
  expect(served.map(({ body }) => body.text)).toContain(text)
  expect((await app.call('POST', '/posts', { token, body: { text: 'Новая' } })).status).toBe(201)
})

test('a retry with the key of a published post is answered past the limit on publishing', async () => {
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const { token } = await signUpEarlier(app)
  const publish = (key: string, path = '/posts') =>
    app.call('POST', path, {
      token,
      body: { text: 'Дважды' },
      headers: { 'idempotency-key': key },
    })
  const first = await publish('the post')
  const replies = `/posts/${first.body.id}/replies`
  const reply = await publish('the reply', replies)
  await callsBefore429(() => publish(randomUUID()))
  expect((await publish('the post')).body.id).toBe(first.body.id)
  expect((await publish('the reply', replies)).body.id).toBe(reply.body.id)
})

test('300 likes a day, and then one in 288 s; unlikes and other users go on', async () => {
  const app = await appForTest({ config: { rateLimitScale: 1 } })
  const olga = await signUpEarlier(app)
  const { token } = olga
  const { id } = await app.publish(olga)
  const { served, refusal } = await callsBefore429(() =>
    app.call('POST', `/posts/${id}/likes`, { token }),
  )
  expect(served).toBe(300)
  expectTooMany(refusal, { most: 288 })
  expect((await app.call('DELETE', `/posts/${id}/likes`, { token })).status).toBe(200)
  const petr = await signUpEarlier(app)
  const others = await app.call('POST', `/posts/${id}/likes`, { token: petr.token })
  expect(others.body).toEqual({ likes_count: 1 })
})

test('all calls of a user: 1,500 in 5 minutes, counted for the user and not for the address', async () => {
  // A two-hundredth: 7 for a user, 15 for a visitor's address.
  const app = await appForTest({ config: { rateLimitScale: 0.005 } })
  const { token } = await signUpEarlier(app)
  const { served, refusal } = await callsBefore429(() => app.call('GET', '/sessions', { token }))
  // One call went to learning who signed up.
  expect(served + 1).toBe(7)
  expectTooMany(refusal, { most: 40 })
  expectTooMany(await app.call('GET', '/posts', { token }), { most: 40 })
  expect((await app.call('GET', '/posts')).status).toBe(200)
})

test('all calls of a visitor’s address: 3,000 in 5 minutes, whatever is called and whatever X-Forwarded-For claims; users go on', async () => {
  const app = await appForTest({ config: { rateLimitScale: 0.005 } })
  const { token } = await signUpEarlier(app)
  const paths = ['/posts', '/reports/reasons', '/posts?limit=5']
  let turn = 0
  const { served, refusal } = await callsBefore429(() =>
    app.call('GET', paths[turn++ % paths.length] ?? '', {
      headers: { 'x-forwarded-for': `198.51.100.${turn}` },
    }),
  )
  // Two calls went to signing up.
  expect(served + 2).toBe(15)
  expectTooMany(refusal, { most: 20 })
  expect((await app.call('GET', '/posts', { token })).status).toBe(200)
})

test('pages, files and the API’s document: 9,000 in 5 minutes for an address, apart from its calls', async () => {
  // A five-hundredth: 18 for pages and files, 6 for a visitor's calls.
  const app = await appForTest({ config: { rateLimitScale: 0.002 } })
  const asset = /\/assets\/[^"]+/.exec(await (await fetch(app.url)).text())?.[0] ?? ''
  const paths = ['/liked', '/nowhere', asset, '/robots.txt', '/api/v1/openapi.json']
  const passes = [200, 404, 200, 200, 200]
  const refused: number[] = []
  const since = performance.now()
  for (let n = 0; n < 24; n++) {
    const answer = await fetch(app.url + paths[n % paths.length])
    if (answer.status === 429) {
      refused.push(n)
      expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      expect(await answer.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS' })
    } else {
      expect(answer.status).toBe(passes[n % passes.length])
    }
  }
  // One page was read before, and a slow machine earns one more request each 17 s.
  expect(refused[0]).toBeGreaterThanOrEqual(17)
  expect(refused.length).toBeLessThanOrEqual(7)
  const earned = Math.ceil((performance.now() - since) / 16_000)
  expect(refused.length).toBeGreaterThanOrEqual(7 - earned)
  expect((await app.call('GET', '/posts')).status).toBe(200)
  expect((await fetch(`${app.url}/livez`)).status).toBe(200)
})

test('calls with bad tokens are counted for the address, so that guessing them evades no limit', async () => {
  const app = await appForTest({ config: { rateLimitScale: 0.005 } })
  const statuses: number[] = []
  for (let n = 0; n < 16; n++) {
    statuses.push((await app.call('GET', '/posts', { token: `guess-${n}` })).status)
  }
  expect(statuses).toEqual([...Array(15).fill(401), 429])
})
