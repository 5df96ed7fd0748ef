import { formatTime } from '../../../contract/dates.ts'

/** The forms of a noun after a number: 1 попытка, 2 попытки, 5 попыток. */
type Forms = { one: string; few: string; many: string }

const RULES = new Intl.PluralRules('ru')
const MINUTES = { one: 'минуту', few: 'минуты', many: 'минут' }
const HOURS = { one: 'час', few: 'часа', many: 'часов' }
const DAYS = { one: 'день', few: 'дня', many: 'дней' }
const LONGEST_HOURS = 2

const TIME = new Intl.DateTimeFormat('ru', {
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  // By default Node takes the zone from TZ.
  ...(!process.env.TZ && { timeZone: 'Europe/Moscow' }),
  timeZoneName: 'short',
})

/** Writes a date or unix seconds for the operator, in Moscow time or in that of TZ; null as '—'. */
export function formatOperatorTime(at: Date | number | null): string {
  if (at === null) return '—'
  return TIME.format(typeof at === 'number' ? at * 1000 : at)
}

/** Writes a number with the form of the noun that it needs, such as «5 попыток». */
export function pluralize(n: number, { one, few, many }: Forms): string {
  const category = RULES.select(n)
  return `${n} ${category === 'one' ? one : category === 'many' ? many : few}`
}

export function minutesInWords(minutes: number): string {
  return pluralize(minutes, MINUTES)
}

export function ageInWords(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return 'меньше минуты'
  if (minutes < 60) return minutesInWords(minutes)
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? pluralize(hours, HOURS) : pluralize(Math.floor(hours / 24), DAYS)
}

const UNITS = ['Б', 'КиБ', 'МиБ', 'ГиБ', 'ТиБ']
const TENTHS = new Intl.NumberFormat('ru', { maximumFractionDigits: 1, useGrouping: false })

/** Writes a number of bytes such as «640 Б», «2,4 МиБ» or «24 МиБ». */
export function formatSize(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10)
  const unit = Math.min(power, UNITS.length - 1)
  const amount = bytes / 1024 ** unit
  return `${TENTHS.format(amount < 10 ? amount : Math.floor(amount))} ${UNITS[unit]}`
}

/** Returns «через 42 с», «через 3 минуты» or «через 2 часа», or the end of a longer wait. */
export function waitInWords(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `через ${Math.max(1, whole)} с`
  const minutes = Math.ceil(whole / 60)
  if (minutes < 60) return `через ${minutesInWords(minutes)}`
  const hours = Math.ceil(minutes / 60)
  if (hours > LONGEST_HOURS) return formatTime(Math.ceil(Date.now() / 60_000 + minutes) * 60_000)
  return `через ${pluralize(hours, HOURS)}`
}
