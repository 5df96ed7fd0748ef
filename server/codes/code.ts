import { createHmac, timingSafeEqual } from 'node:crypto'
import { CODE_LENGTH } from '../../contract/constants.ts'

/**
 * The six-digit code of an operation: HMAC-SHA-256 of its id, truncated as RFC 4226 section 5.3 does. The same
 * operation always has the same code, so none is stored.
 */
export function codeOf(operationId: string, key: Buffer): string {
  const mac = createHmac('sha256', key).update(operationId).digest()
  const offset = (mac.at(-1) ?? 0) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** CODE_LENGTH).padStart(CODE_LENGTH, '0')
}

/** Whether two codes are the same. The time it takes does not depend on where they differ. */
export function sameCode(given: string, right: string): boolean {
  return given.length === right.length && timingSafeEqual(Buffer.from(given), Buffer.from(right))
}
