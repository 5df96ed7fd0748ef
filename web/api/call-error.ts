import type { ErrorBody } from '../../contract/errors.ts'
import { GENERAL_ERRORS } from '../../contract/general-errors.ts'
import { isRecord } from '../browser/storage.ts'

const CODE = /^[A-Z_]+$/

/** A call that failed. Its message is Russian and may be shown as it is. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: ErrorBody['code'] | 'OFFLINE' | 'TIMEOUT' | 'OTHER_ACCOUNT'
  /** HTTP status; 0 without an answer. */
  readonly status: number
  /** Seconds after which the server allows another attempt. */
  readonly retryAfter?: number

  constructor(failure: {
    code: CallError['code']
    message: string
    status: number
    retryAfter?: number
  }) {
    super(failure.message)
    this.code = failure.code
    this.status = failure.status
    if (failure.retryAfter !== undefined) this.retryAfter = failure.retryAfter
  }
}

/** The error of a call without an answer. */
export function noAnswer(code: 'OFFLINE' | 'TIMEOUT'): CallError {
  return new CallError({ code, message: whyNoAnswer(code), status: 0 })
}

/** The cause, as far as the browser knows it: only where it is offline can the person do something about it. */
function whyNoAnswer(code: 'OFFLINE' | 'TIMEOUT'): string {
  if (globalThis.navigator?.onLine === false) return 'Нет связи. Проверьте интернет и повторите'
  return code === 'OFFLINE'
    ? 'Сервер не отвечает. Попробуйте чуть позже'
    : 'Сервер долго не отвечает. Попробуйте ещё раз'
}

/** The error of a call by somebody who is no longer the one that is signed in. */
export function otherAccount(): CallError {
  const message = 'Это написано в другом аккаунте. Войдите в него, чтобы отправить'
  return new CallError({ code: 'OTHER_ACCOUNT', message, status: 0 })
}

/** The error of a successful answer whose body cannot be parsed. */
export function unreadableAnswer(): CallError {
  return new CallError({ ...GENERAL_ERRORS.INTERNAL_ERROR, code: 'INTERNAL_ERROR' })
}

/** The error of an answer with a failure status. If its body is not the API's, as with a proxy's page, the status decides. */
export function errorOf(response: Response, body: unknown): CallError {
  const { code, message } = isErrorBody(body) ? body : bodyForStatus(response.status)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new CallError({
    code,
    message,
    status: response.status,
    ...(seconds >= 0 && { retryAfter: seconds }),
  })
}

/** Codes are not compared with a list: a page that is still open may get one of a newer server. */
function isErrorBody(body: unknown): body is ErrorBody {
  const isCode = isRecord(body) && typeof body.code === 'string' && CODE.test(body.code)
  return isCode && typeof body.message === 'string'
}

function bodyForStatus(status: number): ErrorBody {
  const code = codeForStatus(status)
  return { code, message: GENERAL_ERRORS[code].message }
}

function codeForStatus(status: number): keyof typeof GENERAL_ERRORS {
  if (status === 401) return 'UNAUTHORIZED'
  if (status === 404) return 'NOT_FOUND'
  if (status === 413) return 'PAYLOAD_TOO_LARGE'
  if (status === 429) return 'TOO_MANY_REQUESTS'
  return status === 502 || status === 503 || status === 504 ? 'UNAVAILABLE' : 'INTERNAL_ERROR'
}

/** A limit that lasts longer is told instead: nobody keeps a page open for it. */
const LONGEST_LIMIT_SECONDS = 300

/** A limit that passes so soon that the app can wait for it. */
export type ShortLimit = CallError & { retryAfter: number }

export function isShortLimit(error: unknown): error is ShortLimit {
  if (!(error instanceof CallError) || error.code !== 'TOO_MANY_REQUESTS') return false
  return (error.retryAfter ?? Number.POSITIVE_INFINITY) <= LONGEST_LIMIT_SECONDS
}

/** Whether a call failed because no answer came. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof CallError && (error.code === 'OFFLINE' || error.code === 'TIMEOUT')
}
