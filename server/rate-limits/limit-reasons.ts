import { AppError } from '../http/app-error.ts'

/** What is said to people who meet a limit: first the reason, then advice for a client that shows no time. */
const REASONS = {
  usernameChanges: 'Имя можно менять трижды в сутки. Попробуйте завтра',
  newcomerPublications: 'Первые сутки — одна запись в минуту. Подождите немного и повторите',
  newcomerDays: 'Первые сутки — не больше 20 записей. Попробуйте завтра',
  likes: 'Не больше 300 отметок в сутки. Попробуйте завтра',
}

export type LimitReason = keyof typeof REASONS

/** Makes the refusals of a limit say why. */
export function withReason<L extends { charge: (key: string) => Promise<void> }>(
  reason: LimitReason,
  limit: L,
): L {
  const { charge } = limit
  limit.charge = (key) =>
    charge(key).catch((error) => {
      if (!(error instanceof AppError)) throw error
      throw new AppError('TOO_MANY_REQUESTS', {
        message: REASONS[reason],
        retryAfter: error.retryAfter,
      })
    })
  return limit
}
