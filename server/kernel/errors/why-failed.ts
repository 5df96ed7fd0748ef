import { constants, userInfo } from 'node:os'
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
const brokenDisk = () =>
  'диск отвечает ошибкой. Посмотрите dmesg, проверьте диск и перенесите копии стены на другой'
const noDisk = () => 'сетевой или съёмный диск не отвечает. Подключите его заново'

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

/** Reasons of calls that are known to be of files, with the original in brackets. */
const DISK_REASONS: Record<string, () => string> = {
  EIO: brokenDisk,
  EUCLEAN: brokenDisk,
  EBADMSG: brokenDisk,
  EREMOTEIO: brokenDisk,
  ESTALE: noDisk,
  ETIMEDOUT: noDisk,
  EHOSTDOWN: noDisk,
  ENODEV: noDisk,
  ENXIO: noDisk,
  ENOMEDIUM: noDisk,
  ENOTCONN: noDisk,
  EMFILE: () => 'открыто слишком много файлов. Остановите лишние программы',
  ENFILE: () => 'открыто слишком много файлов. Остановите лишние программы',
  EFBIG: () => 'файл слишком велик для этого диска',
  ESPIPE: () => 'это канал, а нужен обычный файл',
  ELOOP: () => 'ссылки в пути ведут по кругу',
  EBUSY: () => 'это занято другой программой',
}

/** The names of error numbers. libuv has none for some, such as EDQUOT and ESTALE. */
const NAMES = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]))

type SystemError = Error & { code?: string; errno?: number; syscall?: string }

/** Node begins the message of a failed file call, and of no other call, with the error's code. */
function isOfFileCall(error: unknown): error is SystemError & { code: string } {
  if (!(error instanceof Error) || !('syscall' in error)) return false
  return error.message.startsWith(`${errorCode(error)}: `)
}

/** Returns in Russian why a file or folder was refused, and what helps; undefined if unknown. */
export function fileReason(error: unknown): string | undefined {
  if (!isOfFileCall(error)) {
    // The socket of a database that does not run is missing too.
    const isOfSocket = error instanceof Error && 'syscall' in error && error.syscall === 'connect'
    return isOfSocket ? undefined : FILE_REASONS[errorCode(error)]?.()
  }
  const name = NAMES.get(-(error.errno ?? 0)) ?? error.code
  const known = FILE_REASONS[name]?.()
  if (known) return known
  const [reason = '', ...advice] = (
    DISK_REASONS[name]?.() ?? 'файл или диск отвечает ошибкой'
  ).split('. ')
  return [`${reason} (${name}, ${error.syscall})`, ...advice].join('. ')
}

/** What PostgreSQL's programs print for errors of files (strerror(3)). */
const PRINTED: [RegExp, () => string][] = [
  [/No space left on device|Disk quota exceeded/, noSpace],
  [/Input\/output error|Structure needs cleaning/, brokenDisk],
  [/Stale (?:NFS )?file handle|Connection timed out|No such device/, noDisk],
  [/Read-only file system/, () => 'диск только для чтения. Подключите его для записи'],
  [/Permission denied|Operation not permitted/, noRight],
]

/** What programs print that a signal has ended, or whose own programs it has. A shell adds 128. */
const ENDED_BY_SIGNAL = /terminated by signal|exit code 1(?:29|[3-9]\d)/
const signalReason = () =>
  'программу PostgreSQL прервал сигнал. Чаще всего причина — нехватка памяти: освободите её и повторите'

/** What is printed after a failure or during a recovery, and states no reason. */
const NO_REASON = /^initdb: removing |database system is /

/** Returns in Russian why a program of PostgreSQL failed, with its own words in brackets. */
export function programReason(output: string, signal?: NodeJS.Signals | null): string {
  const printed = output.split('\n').filter((line) => line.trim() !== '' && !NO_REASON.test(line))
  const lines = signal ? [...printed, `terminated by signal ${signal}`] : printed
  const found = lines.findLast((line) => PRINTED.some(([words]) => words.test(line)))
  // PostgreSQL names the wrong setting in the line before «contains errors».
  const setting = lines.findLast((_line, at) => /contains errors/.test(lines[at + 1] ?? ''))
  const stated = lines.findLast((line) => /error|FATAL|PANIC/.test(line))
  // PostgreSQL ends itself by a signal once it has stated its reason.
  const ended = lines.findLast((line) => ENDED_BY_SIGNAL.test(line))
  const own = found ?? setting ?? stated ?? ended ?? lines.at(-1) ?? ''
  const words = own.replace(/^.*?(?:error|FATAL|PANIC|LOG|DETAIL): +/, '').trim()
  const known = own === ended ? signalReason : PRINTED.find(([words]) => words.test(own))?.[1]
  const reason = known?.()
  if (reason === undefined) {
    return words === '' ? 'Причина неизвестна' : `PostgreSQL пишет: «${words}»`
  }
  const [first = '', ...advice] = reason.split('. ')
  const sentence = [`${first} (${words})`, ...advice].join('. ')
  return sentence.replace(/^./, (letter) => letter.toUpperCase())
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
  [
    /57P0[12]|ECONNRESET|EPIPE|terminated|closed?\b|disconnected|discarded|hang up/,
    'соединение оборвалось',
  ],
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
