const TIME = new Intl.DateTimeFormat('ru', {
  dateStyle: 'short',
  timeStyle: 'short',
  timeZone: process.env.TZ || 'Europe/Moscow',
})

/** Returns a date and time for the terminal; a dash for none. */
export function time(at: Date | number | null): string {
  if (at === null) return '—'
  return TIME.format(typeof at === 'number' ? at * 1000 : at)
}

const FIRST_LINE_MAX = 60

/** Returns the first line of a text, cut to what fits into a list. Control characters never reach the terminal. */
export function firstLine(text: string): string {
  const [line = ''] = text.split('\n')
  const clean = printable(line)
  return clean.length > FIRST_LINE_MAX ? `${clean.slice(0, FIRST_LINE_MAX - 1)}…` : clean
}

/** Returns a text without what a terminal would take for a command. */
export function printable(text: string): string {
  return text.replace(/(?!\n)\p{Cc}/gu, '')
}

const RULES = new Intl.PluralRules('ru')

/** Returns a number with the right form of its noun: one, few, many. */
export function count(number: number, [one, few, many]: readonly [string, string, string]): string {
  const forms: Record<string, string> = { one, few }
  return `${number} ${forms[RULES.select(number)] ?? many}`
}

export const POSTS = ['запись', 'записи', 'записей'] as const
export const REPORTS = ['жалоба', 'жалобы', 'жалоб'] as const
export const APPEALS = ['обжалование', 'обжалования', 'обжалований'] as const
export const ACCOUNTS = ['аккаунт', 'аккаунта', 'аккаунтов'] as const
