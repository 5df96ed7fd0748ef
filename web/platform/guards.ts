/** Guards for stored values, which other code, another release or another tab may have written. */

type Check = (value: unknown) => boolean
type Guard<Value> = (value: unknown) => value is Value

export const isString = (value: unknown): value is string => typeof value === 'string'
export const isNumber = (value: unknown): value is number => typeof value === 'number'

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Returns a guard that checks the given properties, and ignores all others. */
export function shape<Value>(
  checks: Record<string, Check> & { [Key in keyof Value]?: Check },
): Guard<Value> {
  return (value): value is Value =>
    isRecord(value) && Object.entries(checks).every(([key, isRight]) => isRight(value[key]))
}

export function arrayOf<Item>(isItem: Guard<Item>): Guard<Item[]> {
  return (value): value is Item[] => Array.isArray(value) && value.every(isItem)
}
