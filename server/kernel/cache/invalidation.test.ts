import { beforeAll, expect, test } from 'vitest'
import type { TestAnswer, TestUser } from '../../testing/client.ts'
import { captureStatements } from '../../testing/plans.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const app = await appForFile()
let olga: TestUser
/** Likes only what a test makes him like. */
let petr: TestUser
let postId: string
beforeAll(async () => {
  olga = await app.signUp()
  petr = await app.signUp()
  postId = (await app.publish(olga)).id
  await app.call('POST', `/posts/${postId}/likes`, { token: olga.token })
  await publishWithKey()
})

const readWall = () => app.call('GET', '/posts')
function publishWithKey() {
  const headers = { 'idempotency-key': 'once' }
  return app.call('POST', '/posts', { token: olga.token, headers, body: { text: 'Один раз' } })
}

/** Whether a visitor's wall, which was read just before a call, is read from the database again after it. */
async function invalidates(call: () => Promise<unknown>): Promise<boolean> {
  await readWall()
  await call()
  const sent = await captureStatements(readWall)
  return sent.some(({ text }) => text.includes('WITH page AS'))
}

const NO_CHANGES: [what: string, call: () => Promise<TestAnswer>, status: number][] = [
  ['a like', () => app.call('POST', `/posts/${postId}/likes`, { token: petr.token }), 200],
  ['an unlike', () => app.call('DELETE', `/posts/${postId}/likes`, { token: petr.token }), 200],
  ['a retried publication', publishWithKey, 201],
  [
    'a reply to a missing post',
    () => app.call('POST', '/posts/999/replies', { token: olga.token, body: { text: 'Кому?' } }),
    404,
  ],
  [
    'a deletion of a missing post',
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

test.each(NO_CHANGES)('%s invalidates no cached response', async (_what, call, status) => {
  expect((await call()).status).toBe(status)
  // A cached response lives for a second: on a busy machine the first tries may take longer.
  await expect.poll(() => invalidates(call), { timeout: 10_000 }).toBe(false)
})

testPerNode('what visitors of another node see some milliseconds later')(
  'a publication invalidates cached responses',
  async () => {
    expect(await invalidates(() => app.publish(olga))).toBe(true)
  },
)
