import type { ErrorBody } from '../../contract/errors.ts'
import { GENERAL_ERRORS } from '../../contract/general-errors.ts'
import { isString, shape } from '../platform/guards.ts'

const CODE = /^[A-Z_]+$/

/** The error of a failed call. Its message is Russian, and may be shown. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: ErrorBody['code'] | 'OFFLINE' | 'TIMEOUT'
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** In seconds. */
  readonly retryAfter?: number

  constructor(failure: Failure) {
    super(failure.message)
    this.code = failure.code
    this.status = failure.status
    if (failure.retryAfter !== undefined) this.retryAfter = failure.retryAfter
  }
}

/** What a CallError is made of, and can be stored or sent as. */
export type Failure = Pick<CallError, 'code' | 'message' | 'status' | 'retryAfter'>

/** Resolves to `otherwise` if the server answers with this status. */
export function fallBackOn<T, U>(status: number, call: Promise<T>, otherwise: U): Promise<T | U> {
  return call.catch((error) => {
    if (error instanceof CallError && error.status === status) return otherwise
    throw error
  })
}

export function noAnswer(code: 'OFFLINE' | 'TIMEOUT'): CallError {
  return new CallError({ code, message: whyNoAnswer(code), status: 0 })
}

function whyNoAnswer(code: 'OFFLINE' | 'TIMEOUT'): string {
  if (globalThis.navigator?.onLine === false) return 'Нет связи. Проверьте интернет и повторите'
  return code === 'OFFLINE'
    ? 'Сервер не отвечает. Попробуйте чуть позже'
    : 'Сервер долго не отвечает. Попробуйте ещё раз'
}

export function generalError(code: keyof typeof GENERAL_ERRORS): CallError {
  return new CallError({ ...GENERAL_ERRORS[code], code })
}

/**
 * Returns the error of a response. If the body is not the API's, something on the way has answered:
 * the server has refused nothing, whatever the status says.
 */
export function errorOf(response: Response, body: unknown): CallError {
  const { status } = response
  const failure = isErrorBody(body) ? { ...body, status } : generalError(codeFor(status))
  const { code, message } = failure
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new CallError({
    ...{ code, message, status: failure.status },
    ...(seconds >= 0 && { retryAfter: seconds }),
  })
}

/** Accepts unknown codes, because an open page may call a newer server. */
const isErrorBody = shape<ErrorBody>({
  code: (code) => isString(code) && CODE.test(code),
  message: isString,
})

function codeFor(status: number): keyof typeof GENERAL_ERRORS {
  if (status === 413) return 'PAYLOAD_TOO_LARGE'
  if (status === 429) return 'TOO_MANY_REQUESTS'
  return status === 502 || status === 503 || status === 504 ? 'UNAVAILABLE' : 'INTERNAL_ERROR'
}

/** The longest limit that is waited for. Few people keep a page open longer. */
const LONGEST_LIMIT_SECONDS = 300

export type ShortLimit = CallError & { retryAfter: number }

export function isShortLimit(error: unknown): error is ShortLimit {
  if (!(error instanceof CallError) || error.code !== 'TOO_MANY_REQUESTS') return false
  return (error.retryAfter ?? Number.POSITIVE_INFINITY) <= LONGEST_LIMIT_SECONDS
}

/** Returns whether the server refuses a call for another reason than its limits. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  return error.status >= 400 && error.status < 500 && error.status !== 429
}

export function isUnanswered(error: unknown): boolean {
  return error instanceof CallError && (error.code === 'OFFLINE' || error.code === 'TIMEOUT')
}
