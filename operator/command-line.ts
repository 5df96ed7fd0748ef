import { parseArgs } from 'node:util'
import { Value } from 'typebox/value'
import { MODERATION_NOTE_MAX, MODERATION_REASON_MAX } from '../contract/constants.ts'
import { line } from '../contract/fields.ts'
import { isMisspelt } from '../server/kernel/config/config.ts'
import { type Command, type Output, UsageError, type Values } from './command.ts'

/** Options that every command accepts. An option that takes a value ends in `=`. */
const COMMON = ['help', 'version', 'json', 'yes', 'dry-run', 'env-file=', 'as=']

const OPTION = /\[?--([a-z\d-]+)( [^\s\][]+)?\]?/g

/** Returns the options that a usage names. An option that takes a value ends in `=`. */
function optionsIn(usage: string): string[] {
  return [...usage.matchAll(OPTION)].map(([, name, value]) => (value ? `${name}=` : `${name}`))
}

function optionsOf({ forms }: Command): string[] {
  return [...new Set(Object.keys(forms).flatMap(optionsIn))]
}

/** Parses the arguments. Throws UsageError for an unknown option or a missing or unwanted value. */
export function parseCommandLine(args: string[], commands: Command[]) {
  const types = [...COMMON, ...commands.flatMap(optionsOf)].map((option) => {
    const name = option.replace('=', '')
    const type = option.endsWith('=') ? ('string' as const) : ('boolean' as const)
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
  return { values: parsed.values as Values, positionals: parsed.positionals }
}

/**
 * Finds the form of a call. Returns its usage, and the words given for placeholders. Throws
 * UsageError if no form has these words, or for an option that is missing or foreign to it.
 */
export function readForm({ forms }: Command, words: string[], values: Values) {
  const all = Object.keys(forms).map((usage) => ({ usage, parts: partsOf(usage, words.length) }))
  const begin = (count: number) =>
    all.filter(({ parts }) => words.slice(0, count).every((word, at) => isSuch(parts[at], word)))
  const form = begin(words.length).find(({ parts }) =>
    parts.slice(words.length).every((part) => part.startsWith('[')),
  )
  if (!form) throw new UsageError(explainWords(begin, words))
  requireOptions(form.usage, values)
  return { usage: form.usage, given: words.filter((_, at) => isPlaceholder(form.parts[at])) }
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

function isSuch(part = '', word: string): boolean {
  return /^[A-ZА-ЯЁ]/.test(bare(part)) || bare(part).split('|').includes(word)
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

function requireOptions(usage: string, values: Values): void {
  const known = [...COMMON, ...optionsIn(usage)].map((option) => option.replace('=', ''))
  const foreign = Object.keys(values).find((option) => !known.includes(option))
  if (foreign !== undefined) throw new UsageError(`здесь не бывает --${foreign}`)
  const needed = [...usage.matchAll(OPTION)].filter(([option]) => !option.startsWith('['))
  const missing = needed.find(([, name = '']) => String(values[name] ?? '').trim() === '')
  if (missing) throw new UsageError(`не хватает: ${missing[0]}`)
  for (const [name, min, max] of LINES) {
    const text = values[name]
    if (text === undefined || Value.Check(line(min, max), text)) continue
    throw new UsageError(`--${name}: нужна одна строка текста, не длиннее ${max} знаков`)
  }
}

/** The texts that are stored, with their least and greatest length, as in the API. */
const LINES = [
  ['reason', 1, MODERATION_REASON_MAX],
  ['note', 0, MODERATION_NOTE_MAX],
  ['order', 0, MODERATION_NOTE_MAX],
] as const

/** Returns the first known name that begins with `name`, or that `name` misspells. */
export function nearest(name: string, names: string[]): string | undefined {
  return names.find((known) => known.startsWith(name) || isMisspelt(name, known))
}

const COMMON_HELP = [
  'У каждой команды:',
  '  --json           ответ для программ, отказ — {"error": "…"}',
  '  --dry-run        сделать всё и отменить: видно, что было бы',
  '  --yes            не спрашивать подтверждения',
  '  --as ИМЯ         кто действует, для журнала',
  '  --env-file ФАЙЛ  переменные, с которыми запущен сервер',
  '  --help, -h       подсказка; то же — vslukh help КОМАНДА',
]

const OPTIONS: Record<string, string> = {
  access: 'адреса, которые хранит ACCESS_JOURNAL_DAYS; это чтение само попадает в журнал',
  all: 'и последние решённые; у запрета — закрыть сети и чтение, и запись',
  'before=': 'то, что старше этого номера: следующая страница',
  'block-days=': 'и закрыть автору возможность писать на столько дней',
  'contact=': 'почта того, кто отвечает за сайт: её увидят все',
  'days=': 'на сколько дней; без этого — бессрочно, приглашение — на неделю',
  'for=': 'на какое время: 30m, 2h, 7d',
  'invite-only': 'только по приглашениям',
  'mail-from=': 'с какого адреса уходят письма',
  'name=': 'кто отвечает за сайт: имя или название',
  'note=': 'заметка для себя: только в журнале и в списке приглашений',
  'order=': 'чьё предписание и его номер, для журнала',
  'post=': 'номер записи',
  'page=': 'номер страницы',
  'proxy=': 'nginx вместо caddy',
  quiet: 'не сообщать автору и тем, кто жаловался',
  'reason=': 'причина словами: её увидят те, кого она касается',
  replace: 'заменить стену, которая уже есть',
  'smtp-url=': 'почтовый сервер без пароля: smtp://localhost:25',
  'smtp-url-file=': 'файл с адресом smtps://имя:пароль@smtp.example.org; «-» — стандартный ввод',
  'sha256=': 'сумма SHA-256 архива, если рядом с ним нет SHA256SUMS',
  'since=': 'за какое время: 30m, 2h, 7d',
  'until=': 'сколько показывать: 30m, 2h, 7d; без этого — пока не снимете',
  'url-file=': 'файл с адресом базы данных; «-» — стандартный ввод',
  'uses=': 'сколько людей зарегистрируется по ссылке; без этого — один',
  'user=': 'КТО: имя, почта или номер человека',
  'without-secret': 'не класть в копию секрет',
}

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
  return { lines, json: { commands: json, options: COMMON } }
}

function factsOf(command: Command) {
  const { forms, summary } = command
  return { usage: Object.keys(forms), summary, options: optionsOf(command) }
}

export function commandHelp(command: Command): Output {
  const { usage, summary, options } = factsOf(command)
  const own = options.map((option) => {
    const name = `--${option.replace('=', '')}`
    return `  ${name.padEnd(16)} ${OPTIONS[option] ?? ''}`
  })
  const who = usage.some((line) => line.includes('КТО')) ? ['КТО — имя, почта или номер.'] : []
  const lines = [
    ...usage.map((line) => `vslukh ${line}`),
    '',
    summary,
    ...who,
    '',
    ...own,
    ...COMMON_HELP,
  ]
  return { lines, json: { usage, summary, options } }
}
