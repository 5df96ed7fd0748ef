import { userInfo } from 'node:os'
import { errorCode } from '../../kernel/db/database-errors.ts'

/** Returns the name of this process's user, or the id: the users of some containers have no name. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}

// A command of root runs as the wall's user.
const noRight = () =>
  `у пользователя ${userName()} нет на это права. Повторите от владельца через sudo или отдайте это ему: chown`
const noSpace = () => 'на диске не осталось места. Освободите его'

const REASONS: Record<string, () => string> = {
  EACCES: noRight,
  EPERM: noRight,
  EEXIST: () => 'такой файл уже есть. Назовите другое место',
  EISDIR: () => 'это папка, а нужен файл',
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
  return isOfSocket ? undefined : REASONS[errorCode(error)]?.()
}
