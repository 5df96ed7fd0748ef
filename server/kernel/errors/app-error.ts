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

/** The product cannot start, or a command is refused. The message is Russian, for the operator. */
export class StartError extends Error {}
