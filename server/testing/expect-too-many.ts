import { expect } from 'vitest'
import type { TestAnswer } from './client.ts'
import { expectRefusal } from './expect-refusal.ts'

/** Expects 429 with a Retry-After of whole seconds within the bounds. */
export function expectTooMany(
  answer: TestAnswer,
  { least = 1, most }: { least?: number; most: number },
): void {
  expectRefusal(answer, 'TOO_MANY_REQUESTS')
  const retryAfter = answer.headers.get('retry-after') ?? ''
  expect(retryAfter).toMatch(/^\d+$/)
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(least)
  expect(Number(retryAfter)).toBeLessThanOrEqual(most)
}
