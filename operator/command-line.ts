import { parseArgs } from 'node:util'
import { isMisspelt } from '../server/kernel/config/config.ts'
import { type Command, type Output, UsageError } from './command.ts'
import { COMMON, OPTIONS, type Option, type Options } from './options.ts'

const OPTION = /\[?--([a-z\d-]+)( [^\s\][]+)?\]?/g

/** Returns the names of the options in a usage. */
function optionsIn(usage: string): string[] {
  return [...usage.matchAll(OPTION)].map(([, name = '']) => name)
}

const ALL: Record<string, Option> = { ...COMMON, ...OPTIONS }

/** The given values by option: true for an option without a value. */
type GivenValues = Record<string, string | boolean | undefined>

/** Parses the arguments. Throws UsageError for an unknown option or a missing or unwanted value. */
export function parseCommandLine(args: string[]) {
  const types = Object.entries(ALL).map(([name, { read }]) => {
    const type = read ? ('string' as const) : ('boolean' as const)
    return [name, name === 'help' ? { type, short: 'h' } : { type }] as const
  })
  const options = Object.fromEntries(types)
  // Strict parsing would report errors in English.
  const parsed = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  for (const token of parsed.tokens) {
    if (token.kind !== 'option') continue
    const type = Object.hasOwn(options, token.name) ? options[token.name]?.type : undefined
    if (!type) throw new UsageError(`${token.rawName}: такого ключа нет`)
    if (type === 'string' && token.value === undefined) {
      throw new UsageError(`${token.rawName}: нужно значение`)
    }
    if (type === 'boolean' && token.value !== undefined) {
      throw new UsageError(`${token.rawName} не принимает значения`)
    }
  }
  return { given: parsed.values as GivenValues, positionals: parsed.positionals }
}

/**
 * Finds the form of a call. Returns its usage, the words given for placeholders, and the options.
 * Throws UsageError if no form has these words, or for a wrong option.
 */
export function findForm({ forms }: Command, words: string[], given: GivenValues) {
  const all = Object.keys(forms).map((usage) => ({ usage, parts: partsOf(usage, words.length) }))
  const begin = (count: number) =>
    all.filter(({ parts }) =>
      words.slice(0, count).every((word, at) => matchesPart(parts[at], word)),
    )
  const form = begin(words.length).find(({ parts }) =>
    parts.slice(words.length).every((part) => part.startsWith('[')),
  )
  if (!form) throw new UsageError(explainWords(begin, words))
  // Elsewhere it means the standard streams. A file of this name is `./-`.
  if (words.some((word, at) => word === '-' && /ФАЙЛ|ПАПКА/.test(form.parts[at] ?? ''))) {
    throw new UsageError('вместо «-» назовите файл: потоков эта команда не пишет и не читает')
  }
  const own = words.filter((_, at) => isPlaceholder(form.parts[at]))
  return { usage: form.usage, words: own, options: readOptions(form.usage, given) }
}

/** Returns the words of a usage. Repeats a word that ends in `…` to match `count` words. */
function partsOf(usage: string, count: number): string[] {
  const parts = usage.replaceAll(OPTION, '').split(' ').filter(Boolean).slice(1)
  const repeats = Math.max(1, count - parts.length + 1)
  return parts.flatMap((part) => (part.endsWith('…') ? Array(repeats).fill(part) : [part]))
}

const bare = (part: string) => part.replaceAll(/[[\]…]/g, '')

function isPlaceholder(part = ''): boolean {
  return /^[A-ZА-ЯЁ]|\|/.test(bare(part))
}

function matchesPart(part = '', word: string): boolean {
  if (/^[A-ZА-ЯЁ]/.test(bare(part))) return word.trim() !== ''
  return bare(part).split('|').includes(word)
}

type Begin = (count: number) => { parts: string[] }[]

/** Returns which words are missing, or which word should stand in place of the first wrong one. */
function explainWords(begin: Begin, words: string[]): string {
  let fit = words.length
  while (begin(fit).length === 0) fit--
  const rests = begin(fit).map(({ parts }) => parts.slice(fit))
  const either = (texts: (string | undefined)[]) =>
    [...new Set(texts)].filter((text) => text).join(' или ')
  if (fit === words.length) {
    const needed = rests.map((rest) => rest.filter((part) => !part.startsWith('[')).join(' '))
    return `не хватает: ${either(needed)}`
  }
  const next = either(rests.map(([part]) => part && bare(part).replaceAll('|', ' или ')))
  return next === '' ? `лишнее слово: ${words[fit]}` : `нужно ${next}`
}

/** Throws UsageError for an option that is missing, foreign to the form, or has a wrong value. */
function readOptions(usage: string, given: GivenValues): Options {
  const known = [...Object.keys(COMMON), ...optionsIn(usage)]
  const foreign = Object.keys(given).find((option) => !known.includes(option))
  if (foreign !== undefined) throw new UsageError(`здесь не бывает --${foreign}`)
  const needed = [...usage.matchAll(OPTION)].filter(([option]) => !option.startsWith('['))
  const missing = needed.find(([, name = '']) => String(given[name] ?? '').trim() === '')
  if (missing) throw new UsageError(`не хватает: ${missing[0]}`)
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, readValue(name, text)]),
  )
}

function readValue(name: string, given: string | boolean | undefined): unknown {
  const option = ALL[name]
  if (!option?.read) return given
  const value = option.read(String(given))
  if (value === undefined) throw new UsageError(`--${name}: ${option.needs}`)
  return value
}

/** Returns the first known name that begins with `name`, or that `name` misspells. */
export function nearestName(name: string, names: string[]): string | undefined {
  return names.find((known) => known.startsWith(name) || isMisspelt(name, known))
}

const optionLines = (names: string[]) =>
  names.map((name) => `  ${`--${name}`.padEnd(16)} ${ALL[name]?.help}`)

const COMMON_HELP = ['У каждой команды:', ...optionLines(Object.keys(COMMON))]

export function programHelp(commands: Record<string, Command>): Output {
  const listed = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`,
  )
  const lines = [
    'vslukh КОМАНДА …',
    '',
    ...listed,
    '',
    ...COMMON_HELP,
    '',
    'Код выхода: 0 — сделано, 1 — отказано, 2 — неверный вызов.',
  ]
  const json = Object.entries(commands).map(([name, command]) => ({ name, ...factsOf(command) }))
  return { lines, json: { commands: json, options: Object.keys(COMMON).map(spelling) } }
}

function optionsOf({ forms }: Command): string[] {
  return [...new Set(Object.keys(forms).flatMap(optionsIn))]
}

function factsOf(command: Command) {
  const { forms, summary } = command
  return { usage: Object.keys(forms), summary, options: optionsOf(command).map(spelling) }
}

/** Returns the name of an option for programs. An option that takes a value ends in `=`. */
const spelling = (name: string) => (ALL[name]?.read ? `${name}=` : name)

export function commandHelp(command: Command): Output {
  const json = factsOf(command)
  const usage = json.usage.map((form) => `vslukh ${form}`)
  const who = usage.some((line) => line.includes('КТО')) ? ['КТО — имя, почта или номер.'] : []
  const own = optionLines(optionsOf(command))
  return { lines: [...usage, '', command.summary, ...who, '', ...own, ...COMMON_HELP], json }
}
