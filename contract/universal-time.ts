// Together with the day, the month is formatted in the genitive, which the word «с» requires.
const DAY = new Intl.DateTimeFormat('ru', { dateStyle: 'long', timeZone: 'UTC' })

/** Returns the parts of '29 ноября 2026', the same on the server and in any browser. */
export function utcDateParts(seconds: number) {
  const parts = DAY.formatToParts(seconds * 1000)
  const part = (type: string) => parts.find((it) => it.type === type)?.value
  return { day: part('day'), month: part('month'), year: part('year') }
}

/** Returns '29 ноября 2026, 11:07 UTC'. */
export function formatUtcDateTime(seconds: number): string {
  const { day, month, year } = utcDateParts(seconds)
  return `${day} ${month} ${year}, ${isoTime(seconds).slice(11, 16)} UTC`
}

export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
