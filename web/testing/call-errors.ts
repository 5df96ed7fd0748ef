import { ERRORS, type ErrorCode } from '../../contract/errors.ts'
import { CallError } from '../http/call-error.ts'

/** Returns the error of a call that the server refuses so, with the seconds of its Retry-After. */
export function refused(code: ErrorCode, retryAfter?: number, message?: string): CallError {
  const wait = retryAfter === undefined ? {} : { retryAfter }
  return new CallError({ code, ...ERRORS[code], ...(message && { message }), ...wait })
}
