import { parseArgs } from 'node:util'
import { isMisspelt } from '../server/kernel/config/config.ts'
import { productVersion } from '../server/kernel/db/migrate.ts'
import { type Command, type Output, UsageError, type Values } from './command.ts'

/** Options of every command; those with a value end in `=`. */
const COMMON = ['help', 'version', 'json', 'yes', 'dry-run', 'env-file=', 'as=']

export function optionsOf(commands: Command[]): string[] {
  return [...COMMON, ...commands.flatMap(({ options = [] }) => options)]
}

export function parseCommandLine(args: string[], commands: Command[]) {
  const types = optionsOf(commands).map((option) => {
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

/** Returns the words that would complete a call in one of the command's usage forms. */
export function missingWords({ usage }: Command, words: string[]): string {
  const forms = usage.map((line) =>
    line
      .replace(/ (?:\[|--).*/, '')
      .split(' ')
      .slice(1),
  )
  const fit = forms.filter((form) => words.every((word, at) => isSuch(form[at], word)))
  const missing = fit.map((form) => form.slice(words.length).join(' '))
  return [...new Set(missing)].filter((text) => text !== '').join(' или ')
}

/** Whether a word fits a part of a usage form. Placeholders are in Russian capitals. */
function isSuch(part = '', word: string): boolean {
  return /^[А-ЯЁ]/.test(part) || part.split('|').includes(word)
}

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
  return { lines, json: { commands: json, options: optionsOf([]) } }
}

function factsOf({ usage, summary, options = [] }: Command) {
  return { usage, summary, options }
}

export function commandHelp(command: Command): Output {
  const { usage, summary, options = [] } = command
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
  return { lines, json: factsOf(command) }
}

export function versionOutput(): Output {
  const version = productVersion()
  return { lines: [`vslukh ${version}`], json: { version } }
}
