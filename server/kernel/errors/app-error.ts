import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'

type Details = {
  /** Replaces the message of the code. */
  message?: string
  retryAfter?: number | undefined
}

/** An error with a code of the contract: thrown anywhere, turned into an answer in one place. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, details: Details = {}) {
    super(details.message ?? ERRORS[code].message)
    this.code = code
    this.retryAfter = details.retryAfter
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}
