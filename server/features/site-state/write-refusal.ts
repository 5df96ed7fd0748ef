import { formatDate } from '../../../contract/dates.ts'
import { ERRORS } from '../../../contract/errors.ts'
import { AppError } from '../../kernel/errors/app-error.ts'

/** Returns a refusal whose message is `why`, which names the reason, followed by the contact. */
export function refusalWithContact(
  code: 'BLOCKED' | 'REGISTRATION_CLOSED' | 'WRITING_CLOSED',
  why: string,
  contact: string | undefined,
): AppError {
  const ask = contact ? `Вопросы: ${contact}` : 'Вопросы — к тем, кто ведёт эту стену'
  return new AppError(code, { message: `${why.replace(/(?<![!?…])\.*$/, '.')} ${ask}` })
}

/** `reason` and `until` are of the user's block; `writingClosed` is why the site is read-only. */
type WriteState = { reason: string | null; until: Date | null; writingClosed: string | null }

/** Returns why a user cannot write; null if the user can. */
export function findWritingRefusal(
  { reason, until, writingClosed }: WriteState,
  contact: string | undefined,
): AppError | null {
  if (reason === null) {
    if (writingClosed === null) return null
    const why = `${ERRORS.WRITING_CLOSED.message}: ${writingClosed}`
    return refusalWithContact('WRITING_CLOSED', why, contact)
  }
  const what = until ? `До ${formatDate(until)} вы можете только читать` : 'Вы можете только читать'
  return refusalWithContact('BLOCKED', `${what}. Причина: ${reason}`, contact)
}
