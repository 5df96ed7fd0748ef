// Formatted together with the day, the month is in the genitive, which «с» requires.
const DAY = new Intl.DateTimeFormat('ru', { dateStyle: 'long', timeZone: 'UTC' })

/** Returns the parts of '29 ноября 2026', the same on the server and in any browser. */
export function universalDay(seconds: number) {
  const parts = DAY.formatToParts(seconds * 1000)
  const part = (type: string) => parts.find((it) => it.type === type)?.value
  return { day: part('day'), month: part('month'), year: part('year') }
}

/** Returns '29 ноября 2026, 11:07 UTC', for pages of the server, which does not know the reader's time zone. */
export function universalTime(seconds: number): string {
  const { day, month, year } = universalDay(seconds)
  return `${day} ${month} ${year}, ${new Date(seconds * 1000).toISOString().slice(11, 16)} UTC`
}
