import { formatDate } from '../../../contract/dates.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { AppError } from '../../kernel/errors/app-error.ts'

type Block = { reason: string; until: Date | null }

function blockedError({ reason, until }: Block, contact: string | undefined): AppError {
  const what = until ? `До ${formatDate(until)} вы можете только читать` : 'Вы можете только читать'
  const ask = contact ? `Вопросы: ${contact}` : 'Вопросы — к тем, кто ведёт эту стену'
  return new AppError('BLOCKED', {
    message: `${what}. Причина: ${reason.replace(/\.+$/, '')}. ${ask}`,
  })
}

export function closedError(
  code: 'REGISTRATION_CLOSED' | 'WRITING_CLOSED',
  reason: string,
): AppError {
  return new AppError(code, { message: `${ERRORS[code].message}: ${reason}` })
}

type WriteState = { block: Block | null; writingClosed: string | null }

export function writeRefusal(
  { block, writingClosed }: WriteState,
  contact: string | undefined,
): AppError | null {
  if (block) return blockedError(block, contact)
  return writingClosed === null ? null : closedError('WRITING_CLOSED', writingClosed)
}
