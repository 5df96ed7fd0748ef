import { ERRORS, type ErrorBody, type ErrorCode } from '../../contract/errors.ts'

/** A call that did not succeed. Its message is Russian and may be shown to a person as it stands. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: ErrorCode | 'OFFLINE' | 'TIMEOUT'
  /** HTTP status; 0 when no answer came. */
  readonly status: number
  /** Seconds after which the server invites to try again. */
  readonly retryAfter?: number

  constructor(refusal: {
    code: CallError['code']
    message: string
    status: number
    retryAfter?: number
  }) {
    super(refusal.message)
    this.code = refusal.code
    this.status = refusal.status
    if (refusal.retryAfter !== undefined) this.retryAfter = refusal.retryAfter
  }
}

/** The error for an answer that never came. */
export function noAnswer(code: 'OFFLINE' | 'TIMEOUT'): CallError {
  const message =
    code === 'OFFLINE'
      ? 'Нет связи. Проверьте интернет и повторите'
      : 'Сервер не ответил вовремя. Повторите'
  return new CallError({ code, message, status: 0 })
}

/** The error for a success whose body cannot be read. */
export function garbled(): CallError {
  return new CallError({ ...ERRORS.INTERNAL_ERROR, code: 'INTERNAL_ERROR' })
}

/** The error for an answer with a status of failure. A body that is not the contract's (a proxy's page) is judged by status. */
export function refusal(response: Response, body: unknown): CallError {
  const { code, message } = isErrorBody(body) ? body : bodyForStatus(response.status)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new CallError({
    code,
    message,
    status: response.status,
    ...(seconds >= 0 && { retryAfter: seconds }),
  })
}

function isErrorBody(body: unknown): body is ErrorBody {
  return (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    typeof body.code === 'string' &&
    Object.hasOwn(ERRORS, body.code) &&
    'message' in body &&
    typeof body.message === 'string'
  )
}

function bodyForStatus(status: number): ErrorBody {
  const code = codeForStatus(status)
  return { code, message: ERRORS[code].message }
}

function codeForStatus(status: number): ErrorCode {
  if (status === 401) return 'UNAUTHORIZED'
  if (status === 404) return 'NOT_FOUND'
  if (status === 413) return 'PAYLOAD_TOO_LARGE'
  if (status === 429) return 'TOO_MANY_REQUESTS'
  return status === 502 || status === 503 || status === 504 ? 'UNAVAILABLE' : 'INTERNAL_ERROR'
}
