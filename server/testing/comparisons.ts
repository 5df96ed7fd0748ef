import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished } from 'vitest'
import { CODE_LENGTH } from '../../contract/constants.ts'

/** Counts, for one test, the codes that the process really compares: every timing-safe comparison of six bytes. */
export function countCodeComparisons(): () => number {
  const { timingSafeEqual } = crypto
  let count = 0
  crypto.timingSafeEqual = (given, right) => {
    if (given.byteLength === CODE_LENGTH) count++
    return timingSafeEqual(given, right)
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  })
  return () => count
}
