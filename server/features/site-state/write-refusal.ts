import { formatDate } from '../../../contract/dates.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { AppError } from '../../kernel/errors/app-error.ts'

export function closedError(
  code: 'REGISTRATION_CLOSED' | 'WRITING_CLOSED',
  reason: string,
): AppError {
  return new AppError(code, { message: `${ERRORS[code].message}: ${reason}` })
}

/** `reason` and `until` are of the user's block; `writingClosed` is why the site is read-only. */
type WriteState = { reason: string | null; until: Date | null; writingClosed: string | null }

/** Returns why a user cannot write; null if the user can. */
export function writeRefusal(
  { reason, until, writingClosed }: WriteState,
  contact: string | undefined,
): AppError | null {
  if (reason === null) {
    return writingClosed === null ? null : closedError('WRITING_CLOSED', writingClosed)
  }
  const what = until ? `До ${formatDate(until)} вы можете только читать` : 'Вы можете только читать'
  const ask = contact ? `Вопросы: ${contact}` : 'Вопросы — к тем, кто ведёт эту стену'
  const message = `${what}. Причина: ${reason.replace(/\.+$/, '')}. ${ask}`
  return new AppError('BLOCKED', { message })
}
