import { GENERAL_ERRORS } from '../../contract/general-errors.ts'
import { countdown } from '../format/time.ts'
import { CallError, type ShortLimit } from './call-error.ts'

/** Returns the message to show for an error. Logs an unexpected error. */
export function errorMessage(error: unknown): string {
  if (error instanceof CallError) return error.message
  logOnce(error)
  return GENERAL_ERRORS.INTERNAL_ERROR.message
}

/** Returns why the server refused, without the time, which a countdown shows. */
export function reasonOf({ message }: Error): string {
  return message.split(/[.:] /, 1)[0] ?? message
}

export function waitMessage(error: ShortLimit): string {
  return `${reasonOf(error)}. Отправим через ${countdown(error.retryAfter)}`
}

/** The errors that were logged. A component asks for the message at each render. */
const logged = new Set<unknown>()

function logOnce(error: unknown): void {
  if (!logged.has(error)) console.error(error)
  logged.add(error)
}
