import { GENERAL_ERRORS } from '../../contract/general-errors.ts'
import { plural } from '../format/counts.ts'
import { CallError } from './call-error.ts'
import { DeviceError } from './device.ts'

/** A Russian sentence for an error, with the wait that the server asks for. An unexpected error is also logged. */
export function errorMessage(error: unknown): string {
  if (error instanceof CallError) {
    return error.code === 'TOO_MANY_REQUESTS' && error.retryAfter
      ? `Слишком часто. Повторите через ${waitInWords(error.retryAfter)}`
      : error.message
  }
  if (error instanceof DeviceError) return error.message
  logOnce(error)
  return GENERAL_ERRORS.INTERNAL_ERROR.message
}

/** Errors that were logged: a component asks for the message of one error with each render. */
const logged = new Set<unknown>()

function logOnce(error: unknown): void {
  if (!logged.has(error)) console.error(error)
  logged.add(error)
}

function waitInWords(seconds: number): string {
  if (seconds < 60) return `${seconds} с`
  const minutes = Math.ceil(seconds / 60)
  if (minutes < 60)
    return `${minutes} ${plural(minutes, { one: 'минуту', few: 'минуты', many: 'минут' })}`
  const hours = Math.ceil(minutes / 60)
  return `${hours} ${plural(hours, { one: 'час', few: 'часа', many: 'часов' })}`
}
