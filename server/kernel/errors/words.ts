import { formatTime } from '../../../contract/dates.ts'

/** The forms of a noun after a number: 1 попытка, 2 попытки, 5 попыток. */
type Forms = { one: string; few: string; many: string }

const RULES = new Intl.PluralRules('ru')
const MINUTES = { one: 'минуту', few: 'минуты', many: 'минут' }
const HOURS = { one: 'час', few: 'часа', many: 'часов' }
const DAYS = { one: 'день', few: 'дня', many: 'дней' }
const LONGEST_HOURS = 2

export function counted(n: number, { one, few, many }: Forms): string {
  const category = RULES.select(n)
  return `${n} ${category === 'one' ? one : category === 'many' ? many : few}`
}

export function minutesInWords(minutes: number): string {
  return counted(minutes, MINUTES)
}

export function ageInWords(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1) return 'меньше минуты'
  if (minutes < 60) return minutesInWords(minutes)
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? counted(hours, HOURS) : counted(Math.floor(hours / 24), DAYS)
}

/** Returns «через 42 с», «через 3 минуты» or «через 2 часа», or the end of a longer wait. */
export function waitInWords(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `через ${Math.max(1, whole)} с`
  const minutes = Math.ceil(whole / 60)
  if (minutes < 60) return `через ${minutesInWords(minutes)}`
  const hours = Math.ceil(minutes / 60)
  if (hours > LONGEST_HOURS) return formatTime(Math.ceil(Date.now() / 60_000 + minutes) * 60_000)
  return `через ${counted(hours, HOURS)}`
}
