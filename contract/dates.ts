/** Creates a formatter in Moscow time: the server does not know the reader's time zone. */
const inMoscow = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('ru', { ...options, timeZone: 'Europe/Moscow' })

const DAY = inMoscow({ day: 'numeric', month: 'long' })
const YEAR = inMoscow({ year: 'numeric' })
const TIME = inMoscow({ day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' })

/** Writes «21 ноября» with a no-break space. */
export function formatDay(at: Date | number): string {
  return DAY.format(at).replaceAll(' ', '\u00a0')
}

export function formatDate(at: Date | number): string {
  return `${formatDay(at)}\u00a0${YEAR.format(at)}`
}

/** Writes «21 ноября в 10:00 по Москве». */
export function formatTime(at: Date | number): string {
  return `${TIME.format(at)} по Москве`
}
