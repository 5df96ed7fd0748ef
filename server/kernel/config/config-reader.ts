import { isEmail } from '../../../contract/account-rules.ts'
import { StartError } from '../errors/app-error.ts'

export class ConfigError extends StartError {}

/** An environment variable. `read` throws ConfigError for a wrong value; an empty one is unset. */
export type Variable<T> = {
  name: string
  about: string
  unset: string
  read(env: NodeJS.ProcessEnv): T
}

type Row = [name: string, about: string]
type Rule<T, F> = {
  parse: (value: string) => T | undefined
  need: string
  fallback: F
  unset?: string
  /** Whether messages must not quote the value. */
  isSecret?: boolean
  quote?: (value: string) => string
}

export function variable<T, F>([name, about]: Row, rule: Rule<T, F>): Variable<T | F> {
  const { parse, need, fallback, unset = String(fallback ?? 'unset'), isSecret, quote } = rule
  return {
    name,
    about,
    unset,
    read(env) {
      const value = env[name]?.trim()
      if (!value) return fallback
      const parsed = parse(value)
      if (parsed !== undefined) return parsed
      throw new ConfigError(
        `${name}: ${need}${isSecret ? '' : `, а задано «${quote?.(value) ?? value}»`}`,
      )
    },
  }
}

export function textVariable<F extends string | undefined = undefined>(
  row: Row,
  fallback = undefined as F,
): Variable<string | F> {
  return variable<string, F>(row, { parse: (value) => value, need: '', fallback })
}

type Range = [min: number, max: number]

export function integerVariable<F extends number | undefined>(
  row: Row,
  fallback: F,
  range: Range,
): Variable<number | F> {
  const need = `нужно целое число от ${range[0]} до ${range[1]}`
  return variable<number, F>(row, { fallback, need, parse: (value) => parseInteger(value, range) })
}

export function parseInteger(value: string, [min, max]: Range): number | undefined {
  const number = Number(value)
  return /^\d+$/.test(value) && number >= min && number <= max ? number : undefined
}

export function choiceVariable<T extends string>(
  row: Row,
  allowed: readonly T[],
  fallback: T,
): Variable<T> {
  const parse = (value: string) => allowed.find((one) => one === value)
  return variable<T, T>(row, { fallback, need: `нужно одно из: ${allowed.join(', ')}`, parse })
}

/** Creates a variable with two values: the first means false, the second true. */
export function flagVariable(
  row: Row,
  values: [string, string],
  fallback = false,
): Variable<boolean> {
  return variable(row, {
    parse: (value) => (values.includes(value) ? value === values[1] : undefined),
    need: `нужно одно из: ${values.join(', ')}`,
    fallback,
    unset: values[Number(fallback)] ?? '',
  })
}

export function urlVariable(row: Row, protocols: string[]): Variable<string | undefined> {
  return variable(row, {
    parse: (value) => (protocols.includes(URL.parse(value)?.protocol ?? '') ? value : undefined),
    need: `нужен адрес вида ${protocols[0]}//…`,
    fallback: undefined,
    isSecret: true,
  })
}

export function emailVariable(row: Row): Variable<string | undefined> {
  const parse = (value: string) => (isEmail(value) ? value : undefined)
  const need = 'нужен адрес почты, например wall@vsluh.example'
  return variable(row, { parse, need, fallback: undefined })
}

export function listVariable(row: Row, isValid: (part: string) => boolean, need: string) {
  const partsOf = (value: string) => value.split(',').map((part) => part.trim())
  const wrongPart = (value: string) => partsOf(value).find((part) => part && !isValid(part))
  return variable<string[], string[]>(row, {
    parse: (value) =>
      wrongPart(value) === undefined ? [...new Set(partsOf(value).filter(Boolean))] : undefined,
    need,
    quote: (value) => wrongPart(value) ?? value,
    fallback: [],
    unset: 'unset',
  })
}
