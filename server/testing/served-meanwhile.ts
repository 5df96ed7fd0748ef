import { expect } from 'vitest'
import type { TestUser } from './client.ts'
import type { TestApp } from './test-app.ts'

/**
 * Reads the wall, likes a post and takes that back as a user, again and again until something has ended. Fails where a call is
 * not served. Returns how many such rounds there were.
 */
export async function servedMeanwhile(
  app: TestApp,
  { user, postId }: { user: TestUser; postId: string },
  until: Promise<unknown>,
): Promise<number> {
  let isOver = false
  let rounds = 0
  const end = () => {
    isOver = true
  }
  until.then(end, end)
  while (!isOver) {
    for (const [method, path] of [
      ['GET', '/posts?limit=50'],
      ['POST', `/posts/${postId}/likes`],
      ['DELETE', `/posts/${postId}/likes`],
    ] as const) {
      expect((await app.call(method, path, { token: user.token })).status, path).toBe(200)
    }
    rounds += 1
  }
  return rounds
}
