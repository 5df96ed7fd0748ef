import { Value } from 'typebox/value'
import { MODERATION_NOTE_MAX, MODERATION_REASON_MAX } from '../contract/constants.ts'
import { line } from '../contract/fields.ts'
import { isRowId } from '../server/kernel/db/database.ts'

/** `read` returns the value of an option, or undefined if the text is not what `needs` describes. */
export type Option = { help: string; needs?: string; read?: (text: string) => unknown }

function flag(help: string) {
  return { help }
}

function kind<T>(needs: string, read: (text: string) => T | undefined) {
  return (help: string) => ({ help, needs, read })
}

const text = kind('', (given) => given)

/** A text that is stored, and is as long as in the API. */
const storedLine = (min: number, max: number) =>
  kind(`нужна одна строка текста, не длиннее ${max} знаков`, (given) =>
    Value.Check(line(min, max), given) ? given : undefined,
  )
const note = storedLine(0, MODERATION_NOTE_MAX)
const reason = storedLine(1, MODERATION_REASON_MAX)

const number = (what: string) =>
  kind(`нужно ${what} от 1 до 9999`, (given) =>
    /^[1-9]\d{0,3}$/.test(given) ? Number(given) : undefined,
  )
const days = number('число дней')

const rowId = (what: string) =>
  kind(`нужен ${what}`, (given) => (isRowId(given) ? given : undefined))

const oneOf = <T extends string>(...names: T[]) =>
  kind(`нужно одно из: ${names.join(', ')}`, (given) => names.find((name) => name === given))

/** A day such as 2027-01-31, as its first moment in Moscow. */
const day = kind('нужен день, например 2027-01-31', (given) => {
  const noon = new Date(`${given}T12:00Z`)
  const isDay = !Number.isNaN(noon.getTime()) && noon.toISOString().slice(0, 10) === given
  return isDay ? new Date(`${given}T00:00+03:00`) : undefined
})

const UNITS: Record<string, number> = { d: 86_400, h: 3600, m: 60, s: 1 }

/** A duration such as `2h` or `7d`, in seconds. */
const duration = kind('нужно время, например 30m, 2h или 7d', (given) => {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(given) ?? []
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 1)
})

/** Returns seconds as a duration that `--since` reads. */
export function durationText(seconds: number): string {
  const [unit, size] = Object.entries(UNITS).find(([, size]) => seconds % size === 0) ?? ['s', 1]
  return `${seconds / size}${unit}`
}

/** The options that every command accepts. */
export const COMMON = {
  json: flag('ответ для программ, отказ — {"error": "…"}'),
  'dry-run': flag('сделать всё и отменить: видно, что было бы'),
  yes: flag('не спрашивать подтверждения'),
  as: text('имя того, кто действует, для журнала'),
  'env-file': text('файл с переменными, с которыми запущен сервер'),
  version: flag('номер версии'),
  help: flag('подсказка, как и -h; то же — vslukh help КОМАНДА'),
}

/** The other options. Each form of a command names the options that it accepts. */
export const OPTIONS = {
  access: flag('адреса, которые хранит ACCESS_JOURNAL_DAYS; это чтение само попадает в журнал'),
  all: flag('и последние решённые; у запрета — закрыть сети и чтение, и запись'),
  before: rowId('номер из последней строки')('то, что старше этого номера: следующая страница'),
  'block-days': days('и закрыть автору возможность писать на столько дней'),
  check: flag('ничего не ставить: когда вышла эта версия и где искать новые'),
  contact: text('почта того, кто отвечает за сайт: её увидят все'),
  days: days('на сколько дней; без этого — бессрочно, приглашение — на неделю'),
  first: flag('только если модераторов ещё никогда не было'),
  unmarked: flag('без слова «модератор» у имени на стене'),
  for: duration('на какое время: 30m, 2h, 7d'),
  'invite-only': flag('только по приглашениям'),
  'mail-from': text('с какого адреса уходят письма'),
  name: text('кто отвечает за сайт: имя или название'),
  note: note('заметка для себя: только в журнале и в списке приглашений'),
  on: day('с какого дня, по Москве: 2027-01-31'),
  order: note(
    'чьё предписание и его номер, для журнала; без --reason это и причина, её увидит автор',
  ),
  post: rowId('номер записи')('номер записи'),
  page: number('номер страницы')('номер страницы'),
  proxy: oneOf('caddy', 'nginx')('nginx вместо caddy'),
  quiet: flag('не сообщать автору и тем, кто жаловался'),
  reason: reason(
    'причина словами: её увидят те, кого она касается; у запрета — только вы, в списке и в журнале',
  ),
  replace: flag('заменить стену, которая уже есть'),
  'smtp-url': text('почтовый сервер без пароля: smtp://localhost:25'),
  'smtp-url-file': text(
    'файл с адресом smtps://имя:пароль@smtp.example.org; «-» — стандартный ввод',
  ),
  sha256: text('сумма SHA-256 архива, если рядом с ним нет SHA256SUMS'),
  since: duration('за какое время: 30m, 2h, 7d'),
  until: duration('сколько показывать: 30m, 2h, 7d; без этого — пока не снимете'),
  'url-file': text('файл с адресом базы данных; «-» — стандартный ввод'),
  uses: number('число людей')('сколько людей зарегистрируется по ссылке; без этого — один'),
  user: text('КТО: имя, почта или номер человека'),
  'without-pictures': flag(
    'без картинок записей, которые показывают мессенджеры: с ними архив пишется намного дольше',
  ),
  'without-secret': flag('не класть в копию секрет'),
}

type Table = typeof COMMON & typeof OPTIONS

/** The options of a call, with their values read. */
export type Options = {
  [Name in keyof Table]?: Table[Name] extends { read: (text: string) => infer T }
    ? Exclude<T, undefined>
    : boolean
}
