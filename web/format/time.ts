import { plural } from './counts.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const MONTH = 30 * DAY
const YEAR = 365 * DAY
const MOST_MONTHS = 11

const YEAR_FORMS = { one: 'г.', few: 'г.', many: 'л.' }

const STEPS = [
  { until: HOUR, size: MINUTE, name: 'мин.', unit: 'minute' },
  { until: DAY, size: HOUR, name: 'ч.', unit: 'hour' },
  { until: WEEK, size: DAY, name: 'дн.', unit: 'day' },
  { until: MONTH, size: WEEK, name: 'нд.', unit: 'week' },
  { until: YEAR, size: MONTH, name: 'м.', unit: 'month' },
  { until: Number.POSITIVE_INFINITY, size: YEAR, name: '', unit: 'year' },
] as const

const words = new Intl.RelativeTimeFormat('ru')
const exact = new Intl.DateTimeFormat('ru', { dateStyle: 'long', timeStyle: 'short' })

/** Returns an age such as 'сейчас', '5 мин.' or '1 г.'. Both times are in unix seconds. */
export function timeAgo(createdAt: number, now: number): string {
  return formatAge(
    now - createdAt,
    (count, { name }) => `${count} ${name || plural(count, YEAR_FORMS)}`,
  )
}

/** Returns an age such as '5 минут назад'. Both times are in unix seconds. */
export function timeAgoInWords(createdAt: number, now: number): string {
  return formatAge(now - createdAt, (count, { unit }) => words.format(-count, unit))
}

function formatAge(
  age: number,
  format: (count: number, step: (typeof STEPS)[number]) => string,
): string {
  const step = STEPS.find(({ until }) => age < until)
  if (age < MINUTE || !step) return 'сейчас'
  const count = Math.floor(age / step.size)
  // Twelve months of thirty days are less than a year.
  return format(step.size === MONTH ? Math.min(MOST_MONTHS, count) : count, step)
}

/** Returns a time such as '29 ноября в 15:20', with the year unless it is the current one. */
export function formatDateTime(seconds: number, now?: number): string {
  return formatWithoutThisYear(exact, seconds, now)
}

/** Formats unix seconds, without the year if it is the year of `now` (unix milliseconds). */
export function formatWithoutThisYear(
  format: Intl.DateTimeFormat,
  seconds: number,
  now = Date.now(),
): string {
  const date = new Date(seconds * 1000)
  const isThisYear = date.getFullYear() === new Date(now).getFullYear()
  return format.format(date).replace(isThisYear ? /\s\d{4}\sг\./ : '', '')
}

/** Returns minutes and seconds, such as '2:05' for 125. */
export function countdown(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
