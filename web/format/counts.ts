/** The forms of a Russian noun after a number: 1 ответ, 2 ответа, 5 ответов. */
export type PluralForms = { one: string; few: string; many: string }

const rules = new Intl.PluralRules('ru')

export function plural(n: number, forms: PluralForms): string {
  const category = rules.select(n)
  if (category === 'one' || category === 'many') return forms[category]
  return forms.few
}

const UNITS = [
  { from: 1e12, name: 'трлн.' },
  { from: 1e9, name: 'млрд.' },
  { from: 1e6, name: 'млн.' },
  { from: 1e3, name: 'тыс.' },
]

/** Returns a text such as '999' or '1,4 тыс.'. Never rounds up: 999 999 is '999,9 тыс.'. */
export function shortCount(count: number): string {
  const unit = UNITS.find((candidate) => count >= candidate.from)
  if (!unit) return String(count)
  const tenths = Math.floor(count / (unit.from / 10))
  const rest = tenths % 10
  const whole = String((tenths - rest) / 10)
  return `${rest === 0 ? whole : `${whole},${rest}`} ${unit.name}`
}

/** Returns a text such as '21 запись'. */
export function counted(count: number, forms: PluralForms): string {
  return `${shortCount(count)} ${nounAfter(count, forms)}`
}

/** Returns the form of a noun after the short count. After 'тыс.' it has the form for many. */
export function nounAfter(count: number, forms: PluralForms): string {
  return shortCount(count).endsWith('.') ? forms.many : plural(count, forms)
}

export const POST_FORMS = { one: 'запись', few: 'записи', many: 'записей' }
export const REPLY_FORMS = { one: 'ответ', few: 'ответа', many: 'ответов' }
