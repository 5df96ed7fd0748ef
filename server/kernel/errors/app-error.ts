import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'

type Details = {
  message?: string | undefined
  retryAfter?: number | undefined
}

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

/** The product cannot start. The message states in Russian what the operator must do. */
export class StartError extends Error {}
