import { expect, test } from 'vitest'
import { databaseForTest } from '../testing/database-for-test.ts'
import { openDatabaseAgain, shutDatabase } from '../testing/databases.ts'
import { expectRefusal } from '../testing/expect-refusal.ts'
import { appForTest, NODES, type TestApp } from '../testing/test-app.ts'

async function appOnOwnDatabase() {
  const databaseUrl = await databaseForTest()
  const app = await appForTest({ databaseUrl })
  return { app, databaseUrl }
}

/** Reads once on each node, so that each has a cached response when the database becomes unavailable. */
async function readEverywhere(app: TestApp, path: string) {
  let read = await app.call('GET', path)
  for (let node = 1; node < NODES; node++) read = await app.call('GET', path)
  return read
}

test('while the database is unavailable visitors get the last cached response, marked by its Age; everything else is 503', async () => {
  const { app, databaseUrl } = await appOnOwnDatabase()
  const olga = await app.signUp()
  const { id } = await app.publish(olga)
  const wall = await readEverywhere(app, '/posts')
  const post = await readEverywhere(app, `/posts/${id}`)
  expect(wall.headers.get('age')).toBeNull()

  await shutDatabase(databaseUrl)
  // Once the second is over for which a cached response is served anyway.
  await expect
    .poll(async () => (await app.call('GET', '/posts')).headers.get('age'), { timeout: 5000 })
    .toMatch(/^[1-9]/)
  const now = await app.call('GET', '/posts')
  expect([now.status, now.body]).toEqual([200, wall.body])
  expect(now.headers.get('etag')).toBe(wall.headers.get('etag'))
  expect((await app.call('GET', `/posts/${id}`)).body).toEqual(post.body)

  expectRefusal(await app.call('GET', '/posts?page=2'), 'UNAVAILABLE')
  expectRefusal(await app.call('GET', '/posts', { token: olga.token }), 'UNAVAILABLE')
  const { token } = olga
  expectRefusal(await app.call('POST', '/posts', { token, body: { text: 'Нет' } }), 'UNAVAILABLE')
  expect((await fetch(`${app.url}/readyz`)).status).toBe(503)

  await openDatabaseAgain(databaseUrl)
  await expect.poll(async () => (await fetch(`${app.url}/readyz`)).status).toBe(200)
  const fresh = await app.call('GET', '/posts')
  expect([fresh.status, fresh.headers.get('age')]).toEqual([200, null])
})

test('a post that was deleted before the database became unavailable is not served again', async () => {
  const { app, databaseUrl } = await appOnOwnDatabase()
  const olga = await app.signUp()
  const { id } = await app.publish(olga)
  await readEverywhere(app, `/posts/${id}`)
  await app.call('DELETE', `/posts/${id}`, { token: olga.token })
  await shutDatabase(databaseUrl)
  for (let node = 0; node < NODES; node++) {
    expectRefusal(await app.call('GET', `/posts/${id}`), 'UNAVAILABLE')
  }
})
