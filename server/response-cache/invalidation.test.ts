import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestAnswer, TestUser } from '../testing/client.ts'
import { captureStatements } from '../testing/plans.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
let olga: TestUser
/** Likes nothing but what a test says. */
let petr: TestUser
let postId: string
beforeAll(async () => {
  app = await startTestApp()
  olga = await app.signUp()
  petr = await app.signUp()
  postId = (await app.publish(olga)).id
  await app.call('POST', `/posts/${postId}/likes`, { token: olga.token })
  await publishWithKey()
})
afterAll(() => app.close())

const readWall = () => app.call('GET', '/posts', { token: petr.token })
function publishWithKey() {
  const headers = { 'idempotency-key': 'once' }
  return app.call('POST', '/posts', { token: olga.token, headers, body: { text: 'Один раз' } })
}

/** Whether a signed-in reader's wall, read just before a call and again after it, was asked of the database anew. */
async function voids(call: () => Promise<TestAnswer>): Promise<boolean> {
  await readWall()
  await call()
  const sent = await captureStatements(readWall)
  return sent.some(({ text }) => text.includes('picked'))
}

const NOTHINGS: [what: string, call: () => Promise<TestAnswer>, status: number][] = [
  ['a second like', () => app.call('POST', `/posts/${postId}/likes`, { token: olga.token }), 200],
  [
    'a second unlike',
    () => app.call('DELETE', `/posts/${postId}/likes`, { token: petr.token }),
    200,
  ],
  ['a retried publication', publishWithKey, 201],
  [
    'a reply to nobody',
    () => app.call('POST', '/posts/999/replies', { token: olga.token, body: { text: 'Кому?' } }),
    404,
  ],
  [
    'a deletion of what is gone',
    () => app.call('DELETE', '/posts/999', { token: olga.token }),
    404,
  ],
  [
    'an edit to the same text',
    async () => {
      const { text } = (await app.call('GET', `/posts/${postId}`)).body
      return app.call('PATCH', `/posts/${postId}`, { token: olga.token, body: { text } })
    },
    400,
  ],
  [
    'a renaming to the same name',
    () =>
      app.call('PATCH', '/users/current/profile', {
        token: olga.token,
        body: { username: olga.username },
      }),
    200,
  ],
]

test.each(NOTHINGS)('%s voids no cached answer', async (_what, call, status) => {
  expect((await call()).status).toBe(status)
  // A cached answer lives for a second: on a busy machine the first tries may take longer.
  await expect.poll(() => voids(call), { timeout: 10_000 }).toBe(false)
})

const CHANGES: [what: string, call: () => Promise<TestAnswer>][] = [
  ['a like', () => app.call('POST', `/posts/${postId}/likes`, { token: petr.token })],
  ['an unlike', () => app.call('DELETE', `/posts/${postId}/likes`, { token: petr.token })],
  [
    'a publication',
    () => app.call('POST', '/posts', { token: olga.token, body: { text: 'Новое' } }),
  ],
  [
    'a renaming',
    () =>
      app.call('PATCH', '/users/current/profile', {
        token: olga.token,
        body: { username: 'another_name' },
      }),
  ],
]

test.each(CHANGES)('%s voids cached answers', async (_what, call) => {
  expect(await voids(call)).toBe(true)
})
