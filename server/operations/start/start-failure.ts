import { isDatabaseUnavailable } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'

type SystemError = Error & {
  code?: string
  path?: string
  syscall?: string
  address?: string
  port?: number
}

export class ListenFailure extends StartError {
  constructor(cause: SystemError, prefix: '' | 'METRICS_' = '') {
    super(explainListen(cause, prefix), { cause })
  }
}

/** Returns a sentence for the operator where the cause is known, otherwise the stack. */
export function explainStartFailure(cause: unknown): string {
  const error: SystemError = cause instanceof Error ? cause : new Error(String(cause))
  if (error instanceof StartError) return error.message
  const known = explainDatabase(error) ?? explainFile(error)
  if (known) return known
  if (isDatabaseUnavailable(error)) return `База данных не отвечает: ${error.message}`
  return error.stack ?? error.message
}

function explainDatabase({ code, message }: SystemError): string | undefined {
  switch (code) {
    case '3D000':
      return (
        `DATABASE_URL: такой базы данных на сервере нет (${message}). ` +
        'Создайте её: CREATE DATABASE имя OWNER роль'
      )
    case '28000':
    case '28P01':
      return (
        `DATABASE_URL: сервер базы данных не впускает эту роль (${message}). ` +
        'Проверьте в адресе роль и пароль, а на сервере pg_hba.conf'
      )
    case '3F000':
    case '42501':
      return (
        `DATABASE_URL: у роли не хватает прав (${message}). ` +
        'База и её таблицы должны принадлежать ей: ALTER DATABASE имя OWNER TO роль'
      )
    case '25006':
      return (
        'DATABASE_URL: эта база данных только для чтения: в адресе реплика, ' +
        'или запись запрещена (default_transaction_read_only). Нужна та, в которую можно писать'
      )
    case '53100':
      return `На диске базы данных не осталось места (${message}). Освободите его`
    default:
      return undefined
  }
}

/** A socket's file that is missing is a database that does not run. */
function explainFile({ code, path, syscall }: SystemError): string | undefined {
  if (code === 'ENOSPC') {
    return `На диске${path === undefined ? '' : ` с ${path}`} не осталось места. Освободите его`
  }
  if (path === undefined || syscall === 'connect') return undefined
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return (
        `Нет права на ${path}. Запускайте сервер и команды от владельца этого файла ` +
        'или отдайте его тому, от кого они запущены: chown'
      )
    case 'ENOENT':
    case 'ENOTDIR':
      return `Нет такого файла или папки: ${path}`
    case 'EISDIR':
      return `${path} — папка, а нужен файл`
    case 'EROFS':
      return `${path} на диске только для чтения. Подключите его для записи`
    default:
      return undefined
  }
}

function explainListen({ code, address, port, message }: SystemError, prefix: string): string {
  const place = `${address}:${port}`
  const variable = `${prefix}PORT`
  if (code === 'EADDRINUSE') {
    return `${variable}: ${place} уже занят другой программой. Задайте другой ${variable}`
  }
  if (code === 'EACCES') {
    return `${variable}: нет права слушать ${place}. Задайте другой ${variable}`
  }
  return `${prefix}HOST: не получилось слушать: ${message}`
}
