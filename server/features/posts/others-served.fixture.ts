import { expect } from 'vitest'
import type { TestUser } from '../../testing/http/client.ts'
import type { TestApp } from '../../testing/test-app.ts'

/** Awaits a move of many rows, during which a user goes on reading and liking a post. */
export async function expectOthersServed(
  app: TestApp,
  { by: { token }, postId }: { by: TestUser; postId: string },
  moving: Promise<unknown>,
): Promise<void> {
  let isOver = false
  let rounds = 0
  const end = () => {
    isOver = true
  }
  moving.then(end, end)
  while (!isOver) {
    for (const [method, path] of [
      ['GET', '/posts?limit=50'],
      ['POST', `/posts/${postId}/likes`],
      ['DELETE', `/posts/${postId}/likes`],
      ['GET', `/posts/${postId}/replies`],
    ] as const) {
      expect((await app.call(method, path, { token })).status, path).toBe(200)
    }
    rounds += 1
  }
  await moving
  // A user who had to wait for the whole move would have been served once.
  expect(rounds).toBeGreaterThan(1)
}
