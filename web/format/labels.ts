import { utcDateParts } from '../../contract/universal-time.ts'
import { counted, POST_FORMS, REPLY_FORMS } from './counts.ts'
import { formatWithoutThisYear } from './time.ts'

const day = new Intl.DateTimeFormat('ru', { dateStyle: 'long' })

export function postsAndReplies(of: { posts_count: number; replies_count: number }): string {
  return `${counted(of.posts_count, POST_FORMS)}, ${counted(of.replies_count, REPLY_FORMS)}`
}

export function moderationLabel({ waitingReports }: { waitingReports?: number }): string {
  return waitingReports ? `Модерация · ${waitingReports}` : 'Модерация'
}

/** Returns a month such as 'ноября\u00a02026' in UTC, so that all readers see the same. */
export function monthAndYear(seconds: number): string {
  const { month, year } = utcDateParts(seconds)
  return `${month}\u00a0${year}`
}

/** Returns a day such as '29\u00a0ноября', with the year unless it is the current one. */
export function formatDate(seconds: number, now?: number): string {
  return formatWithoutThisYear(day, seconds, now)
    .replace(/\s*г\.$/, '')
    .replaceAll(' ', '\u00a0')
}
