import { expect } from 'vitest'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'
import type { TestAnswer } from './client.ts'

/** The body must be `{code, message}` only, in Russian. */
export function expectRefusal(
  { status, body }: Pick<TestAnswer, 'status' | 'body'>,
  code: ErrorCode,
): void {
  const message = expect.stringMatching(/^[А-ЯЁ].*[а-яё]/)
  expect({ status, body }).toEqual({ status: ERRORS[code].status, body: { code, message } })
}

/** Retry-After must be whole seconds from `least` to `most`. */
export function expectTooMany(
  answer: Omit<TestAnswer, 'cookie'>,
  { least = 1, most }: { least?: number; most: number },
): void {
  expectRefusal(answer, 'TOO_MANY_REQUESTS')
  const retryAfter = answer.headers.get('retry-after') ?? ''
  expect(retryAfter).toMatch(/^\d+$/)
  expect(Number(retryAfter)).toBeGreaterThanOrEqual(least)
  expect(Number(retryAfter)).toBeLessThanOrEqual(most)
}
