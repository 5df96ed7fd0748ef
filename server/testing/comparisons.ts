import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished } from 'vitest'
import { CODE_LENGTH } from '../../contract/constants.ts'

/** Counts the codes that the process compares during one test: every timing-safe comparison of six bytes. */
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
