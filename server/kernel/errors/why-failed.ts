import { userInfo } from 'node:os'
import { errorCode } from '../db/database-errors.ts'

/** Returns the name of this process's user, or the id: the users of some containers have no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

const noRight = () => {
  const name = userName()
  // A command of root runs as this user, and root has opened what it may open.
  const advice =
    name === 'vslukh'
      ? 'Отдайте это ему, chown vslukh, или положите файл в папку root'
      : 'Повторите от владельца через sudo или отдайте это ему: chown'
  return `у пользователя ${name} нет на это права. ${advice}`
}
const noSpace = () => 'на диске не осталось места. Освободите его'

const FILE_REASONS: Record<string, () => string> = {
  EACCES: noRight,
  EDISKSILENT: () => 'диск не отвечает. Подключите его заново',
  EPERM: noRight,
  EEXIST: () => 'такой файл уже есть. Назовите другое место',
  EISDIR: () => 'это папка, а нужен файл',
  ENAMETOOLONG: () => 'имя слишком длинное. Назовите короче',
  ENOENT: () => 'такого файла или папки нет',
  ENOTDIR: () => 'часть пути — файл, а нужна папка',
  EROFS: () => 'диск только для чтения. Подключите его для записи',
  ENOSPC: noSpace,
  EDQUOT: noSpace,
}

/** Returns in Russian why a file or folder was refused, and what helps; undefined if unknown. */
export function fileReason(error: unknown): string | undefined {
  // The socket of a database that does not run is missing too.
  const isOfSocket = error instanceof Error && 'syscall' in error && error.syscall === 'connect'
  return isOfSocket ? undefined : FILE_REASONS[errorCode(error)]?.()
}

/** What an error of a connection means, by its code or message: many of them have no code. */
const CONNECTION_REASONS: [RegExp, string][] = [
  [/ECONNREFUSED|connect ENOENT/, 'там ничего не запущено'],
  [/ENOTFOUND/, 'такого имени нет в DNS'],
  [/EAI_AGAIN/, 'DNS не отвечает'],
  [/E(HOST|NET)UNREACH/, 'до этого адреса не дойти по сети'],
  [/EADDRNOTAVAIL/, 'у этой машины нет такого адреса'],
  [/57P03/, 'запускается или останавливается'],
  [/ETIMEDOUT|time(d )?out|took longer|Greeting never/i, 'время ожидания вышло'],
  [/57P0[12]|ECONNRESET|EPIPE|terminated|closed?\b|disconnected|hang up/, 'соединение оборвалось'],
]

/** Returns in Russian why a connection failed, with the original; undefined if unknown. */
export function connectionReason(message: string, code = ''): string | undefined {
  const known = CONNECTION_REASONS.find(([words]) => words.test(`${code} ${message}`))
  return known && `${known[1]} (${message})`
}

/** Returns in Russian why something failed, or else its message in quotes. */
export function whyFailed(error: unknown): string {
  const message = messageOf(error)
  return fileReason(error) ?? connectionReason(message, errorCode(error)) ?? `«${message}»`
}

/** The error of fetch() names its reason in its cause, and one of several tries only in its code. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? messageOf(error.cause) : error.message || errorCode(error)
}
