import { formatDate } from '../../../contract/dates.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { AppError } from '../errors/app-error.ts'

/** A block on a user: until then, or until it is taken back, they publish nothing. */
export type Block = { reason: string; until: Date | null }

/** Returns the refusal of a call that publishes something: why, until when, and whom to ask. */
export function blockedError({ reason, until }: Block, contact: string | undefined): AppError {
  const what = until ? `До ${formatDate(until)} вы можете только читать` : 'Вы можете только читать'
  const ask = contact ? `Вопросы: ${contact}` : 'Вопросы — к тем, кто ведёт эту стену'
  return new AppError('BLOCKED', {
    message: `${what}. Причина: ${reason.replace(/\.+$/, '')}. ${ask}`,
  })
}

/** Returns the refusal of a registration, or of writing, while the operator has closed it for a reason. */
export function closedError(
  code: 'REGISTRATION_CLOSED' | 'WRITING_CLOSED',
  reason: string,
): AppError {
  return new AppError(code, { message: `${ERRORS[code].message}: ${reason}` })
}
