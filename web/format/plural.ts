/** The three forms of a Russian noun after a whole number: 1 ответ, 2 ответа, 5 ответов. */
export type PluralForms = { one: string; few: string; many: string }

const rules = new Intl.PluralRules('ru')

/** The form that agrees with `n`. Fractions take `few`, as in «1,5 часа». */
export function plural(n: number, forms: PluralForms): string {
  const category = rules.select(n)
  if (category === 'one' || category === 'many') return forms[category]
  return forms.few
}
