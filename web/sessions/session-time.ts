import { exactTime } from '../format/time-ago.ts'

const time = new Intl.DateTimeFormat('ru', { timeStyle: 'short' })

/**
 * When something happened, as people say it: 'сегодня в 17:49', 'вчера в 9:05', and the full date for anything earlier.
 * `seconds` and `now` are unix seconds; the day is that of the browser's time zone.
 */
export function dayAndTime(seconds: number, now: number): string {
  const then = new Date(seconds * 1000)
  const today = new Date(now * 1000)
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1)
  if (then.toDateString() === today.toDateString()) return `сегодня в ${time.format(then)}`
  if (then.toDateString() === yesterday.toDateString()) return `вчера в ${time.format(then)}`
  return exactTime(seconds)
}
