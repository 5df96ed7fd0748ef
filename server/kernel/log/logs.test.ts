import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { appForTest, type TestApp } from '../../testing/test-app.ts'

const REQUEST = '"msg":"request"'

/** Resolves to every line of the log once it contains so many requests. */
async function linesAfter(app: TestApp, requests: number) {
  await app.logLine(REQUEST, requests)
  return app.logged.map((line) => JSON.parse(line))
}

test('each request that the cache does not answer has one line, except health checks: reqId, method, route, status, ms and who called, never the URL', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const before = app.logged.filter((line) => line.includes(REQUEST)).length
  const { id } = await app.publish(olga)
  await app.call('GET', `/posts/${id}?secret=in-the-query`)
  await app.call('GET', `/posts/${id}`)
  await app.call('GET', '/nowhere/secret-in-the-path', { token: olga.token })
  await app.call('POST', '/posts', { token: olga.token, body: '{' })
  await app.call('DELETE', `/posts/${id}`, { token: 'bad' })
  await fetch(`${app.url}/livez`)
  await fetch(`${app.url}/readyz`)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })

  const requests = (await linesAfter(app, before + 7))
    .filter(({ msg }) => msg === 'request')
    .slice(-7)
  const by = { userId: olga.id }
  const post = '/api/v1/posts/:id'
  const posts = '/api/v1/posts'
  expect(requests).toMatchObject([
    { method: 'POST', route: posts, status: 201, ...by, postId: id },
    { method: 'GET', route: post, status: 200 },
    { method: 'GET', route: post, status: 200 },
    { method: 'GET', route: null, status: 404 },
    { method: 'POST', route: posts, status: 400, ...by },
    { method: 'DELETE', route: post, status: 401 },
    { method: 'DELETE', route: post, status: 204, ...by, postId: id },
  ])
  for (const line of requests) {
    expect(line).toMatchObject({ level: 'info', reqId: expect.stringMatching(/^req-[0-9a-f]{8}-/) })
    expect(line.node).toBe(hostname())
    expect(line.ms).toBeGreaterThanOrEqual(0)
    expect(new Date(line.time).getTime()).toBeGreaterThan(Date.now() - 60_000)
  }
  expect(requests.filter(({ postId }) => postId !== undefined)).toHaveLength(2)
  expect(requests.filter(({ userId }) => userId === undefined)).toHaveLength(4)
  expect(new Set(requests.map(({ reqId }) => reqId)).size).toBe(7)
  expect(app.logged.join('')).not.toMatch(/secret-in|in-the-query|livez|readyz/)
})

test('an error of the database is logged with its request, without the row that it quotes, and answered without its words', async () => {
  const app = await appForTest({ config: { logLevel: 'trace' } })
  const { token } = await app.signUp()
  await app.sql`ALTER TABLE posts ADD CHECK (text NOT LIKE 'Канарейка%') NOT VALID`
  const text = 'Канарейка поёт в записи'
  const { status, body } = await app.call('POST', '/posts', { token, body: { text } })
  expect([status, body.code]).toEqual([500, 'INTERNAL_ERROR'])
  expect(JSON.stringify(body)).not.toContain('posts')
  const { reqId } = JSON.parse(await app.logLine('"status":500'))
  const failure = JSON.parse(await app.logLine('request failed'))
  expect(failure).toMatchObject({ level: 'error', reqId, err: { code: '23514' } })
  expect(app.logged.join('')).not.toContain(text)
})
