import { GENERAL_ERRORS } from '../../contract/general-errors.ts'
import { plural } from '../format/counts.ts'
import { countdown, dayAndMinute } from '../format/time.ts'
import { DeviceError } from '../session/client-token.ts'
import { CallError, type ShortLimit } from './call-error.ts'

const LONGEST_HOURS = 2

/** Includes the wait that the server asks for. An unexpected error is also logged. */
export function errorMessage(error: unknown): string {
  if (error instanceof CallError) {
    return error.code === 'TOO_MANY_REQUESTS' && error.retryAfter
      ? `${reasonOf(error)}. ${waitInWords(error.retryAfter)}`
      : error.message
  }
  if (error instanceof DeviceError) return error.message
  logOnce(error)
  return GENERAL_ERRORS.INTERNAL_ERROR.message
}

/** Returns the first sentence of the server's message: its advice does not fit everywhere. */
export function reasonOf({ message }: CallError): string {
  return message.split('. ', 1)[0] ?? message
}

export function waitMessage(error: ShortLimit): string {
  return `${reasonOf(error)}. Отправим через ${countdown(error.retryAfter)}`
}

/** A component asks for the message of one error with each render, but it is logged once. */
const logged = new Set<unknown>()

function logOnce(error: unknown): void {
  if (!logged.has(error)) console.error(error)
  logged.add(error)
}

function waitInWords(seconds: number): string {
  if (seconds < 60) return `Повторите через ${seconds} с`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60)
    return `Повторите через ${minutes} ${plural(minutes, { one: 'минуту', few: 'минуты', many: 'минут' })}`
  const hours = Math.ceil(minutes / 60)
  if (hours > LONGEST_HOURS) return `Снова — ${dayAndMinute(Date.now() / 1000 + seconds)}`
  return `Повторите через ${hours} ${plural(hours, { one: 'час', few: 'часа', many: 'часов' })}`
}
