import { formatDateTime } from '../../format/time.ts'
import {
  CallError,
  type Failure,
  generalError,
  isShortLimit,
  isUnanswered,
} from '../../http/call-error.ts'
import { errorMessage } from '../../http/error-message.ts'
import { retryPause } from '../../http/query-client.ts'
import type { Text } from './stored-texts.ts'

export const LONGEST_PAUSE_MS = 600_000
/** The longest pause while a form shows the text. */
const LONGEST_SHOWN_PAUSE_MS = 5000
/** Temporary errors. INTERNAL_ERROR may be the page of a proxy or of a captive portal. */
const PASSING = new Set<string>(['UNAVAILABLE', 'INTERNAL_ERROR', 'OTHER_ACCOUNT'])
const A_WHILE_MS = 60_000

/** Returns the text after an attempt that has failed: it waits, or is refused. */
export function afterFailure(text: Text, error: unknown): Text {
  const known = error instanceof CallError ? error : generalError('INTERNAL_ERROR')
  const { code, status, retryAfter = 0 } = known
  const failure = { code, status, message: errorMessage(error), ...(retryAfter && { retryAfter }) }
  // Its author may be somebody else than who sits at the closed session: only a text that was
  // promised to be sent waits.
  const isUnpromised = code === 'SESSION_CLOSED' && text.state === 'sending' && text.tab !== ''
  const waits = !isUnpromised && passes(error)
  const pause = waits ? pauseAfter(error, text) : retryAfter * 1000
  return {
    ...text,
    state: waits ? 'waiting' : 'refused',
    failure,
    tries: text.tries + 1,
    until: Date.now() + pause,
  }
}

/** Returns whether the failure passes by itself, or when the author signs in again. */
function passes(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  if (isUnanswered(error) || isShortLimit(error) || error.status === 401) return true
  // The API's own limits name their wait; a proxy's may not.
  if (error.code === 'TOO_MANY_REQUESTS') return error.retryAfter === undefined
  return PASSING.has(error.code)
}

function pauseAfter(error: unknown, { tries, tab }: Text): number {
  if (isShortLimit(error)) return error.retryAfter * 1000
  const pause = retryPause(tries + 1, error, Math.random())
  return Math.min(pause, tab === '' ? LONGEST_PAUSE_MS : LONGEST_SHOWN_PAUSE_MS)
}

/** Returns why the last attempt has failed. */
export function errorOf(text: Text): CallError {
  const { failure = generalError('UNAUTHORIZED') } = text
  return new CallError({ ...failure, message: messageNow(failure, text) })
}

/** Replaces the wait in the message, which was true at the refusal, with the time of its end. */
function messageNow({ message, retryAfter = 0 }: Failure, { until, state }: Text): string {
  const waited = Date.now() + retryAfter * 1000 - until
  if (state === 'waiting' || retryAfter === 0 || waited < A_WHILE_MS) return message
  return message.replace(/через .+$/, formatDateTime(until / 1000))
}
