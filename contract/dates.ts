/** Creates a formatter in Moscow time: the server does not know the reader's time zone. */
const inMoscow = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('ru', { ...options, timeZone: 'Europe/Moscow' })

const DAY = inMoscow({ day: 'numeric', month: 'long' })
const YEAR = inMoscow({ year: 'numeric' })
const MINUTE = { day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' } as const
const TIME = inMoscow(MINUTE)
const TIME_OF_YEAR = inMoscow({ ...MINUTE, year: 'numeric' })

/** Writes «21 ноября» with a no-break space. */
export function formatDay(at: Date | number): string {
  return DAY.format(at).replaceAll(' ', '\u00a0')
}

export function formatDate(at: Date | number): string {
  return `${formatDay(at)}\u00a0${YEAR.format(at)}`
}

/** Writes «21 ноября в 10:00 по Москве», with the year if it is not this one. */
export function formatTime(at: Date | number): string {
  const isThisYear = YEAR.format(at) === YEAR.format(Date.now())
  return `${(isThisYear ? TIME : TIME_OF_YEAR).format(at)} по Москве`
}
