import { CallError } from './call-error.ts'

const FIRST_MS = 1000
const LONGEST_MS = 30_000

/**
 * Milliseconds to wait after the `failures`th failure in a row: twice as long each time up to half a minute, and no less
 * than the server asks for. `chance` (0 to 1) takes up to half of it off: pages that failed at once must not return at once.
 */
export function retryPause(failures: number, error: unknown, chance: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1))
  const asked = error instanceof CallError ? (error.retryAfter ?? 0) * 1000 : 0
  return Math.max(longest * (1 - chance / 2), asked)
}
