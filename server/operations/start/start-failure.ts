import { isDatabaseUnavailable } from '../../kernel/db/database-errors.ts'
import { StartError } from '../../kernel/errors/app-error.ts'
import { fileReason, whyFailed } from '../../kernel/errors/why-failed.ts'

type SystemError = Error & {
  code?: string
  path?: string
  dest?: string
  syscall?: string
  address?: string
  port?: number
}

/** Thrown if the server cannot listen on PORT and HOST, or METRICS_PORT and METRICS_HOST. */
export class ListenFailure extends StartError {
  constructor(cause: SystemError, prefix: '' | 'METRICS_' = '') {
    super(explainListen(cause, prefix), { cause })
  }
}

/** Returns a Russian sentence for the operator if the cause is known, otherwise the stack. */
export function explainStartFailure(cause: unknown): string {
  const error: SystemError = cause instanceof Error ? cause : new Error(String(cause))
  return explainKnown(error) ?? error.stack ?? error.message
}

/** Returns a Russian sentence for the operator; of an unknown cause the message alone. */
export function sentenceOfFailure(error: Error): string {
  return explainKnown(error) ?? whyFailed(error)
}

function explainKnown(error: SystemError): string | undefined {
  if (error instanceof StartError) return error.message
  const known =
    DATABASE_FAILURES[error.code ?? '']?.(error.message) ??
    explainFile(error) ??
    explainConnection(error)
  if (known) return known
  return isDatabaseUnavailable(error) ? `База данных не отвечает: ${whyFailed(error)}` : undefined
}

const otherRole = (message: string) =>
  `DATABASE_URL: сервер базы данных не впускает эту роль (${message}). ` +
  'Проверьте в адресе роль и пароль, а на сервере pg_hba.conf'
const noRights = (message: string) =>
  `DATABASE_URL: у роли не хватает прав (${message}). ` +
  'База и её таблицы должны принадлежать ей: ALTER DATABASE имя OWNER TO роль'

const isBusy = (message: string) =>
  `База данных занята другой работой с теми же записями (${message}). Подождите и повторите`

const damagedFiles = (message: string) =>
  `Файлы базы данных повреждены (${message}). Проверьте диск и верните стену из копии`

/** Explanations of database errors by SQLSTATE. */
const DATABASE_FAILURES: Record<string, (message: string) => string> = {
  '3D000': (message) =>
    `DATABASE_URL: такой базы данных на сервере нет (${message}). ` +
    'Создайте её: CREATE DATABASE имя OWNER роль',
  '28000': otherRole,
  '28P01': otherRole,
  '42501': noRights,
  '25006': () =>
    'DATABASE_URL: эта база данных только для чтения: в адресе реплика, ' +
    'или запись запрещена (default_transaction_read_only). Нужна та, в которую можно писать',
  '53300': (message) =>
    `Все соединения базы данных заняты (${message}). ` +
    'Подождите и повторите; кто их держит, показывает pg_stat_activity, а сколько их можно — max_connections и CONNECTION LIMIT роли и базы',
  '58030': (message) =>
    `Диск базы данных отвечает ошибкой (${message}). Посмотрите на её машине dmesg, проверьте диск и перенесите копии стены на другой`,
  '40001': isBusy,
  '40P01': isBusy,
  '55P03': isBusy,
  '57014': (message) => `База данных прервала запрос (${message}). Подождите и повторите`,
  XX001: damagedFiles,
  XX002: damagedFiles,
  '53100': (message) => `На диске базы данных не осталось места (${message}). Освободите его`,
}

/** Explanations of a login or a TLS connection that failed before the server sent an error. */
const CONNECTION_FAILURES: [message: RegExp, sentence: string][] = [
  [
    /^SASL: .*client password/,
    'DATABASE_URL: сервер базы данных требует пароль. Допишите его: postgresql://роль:пароль@сервер/база',
  ],
  [
    /^The server does not support SSL/,
    'DATABASE_URL: сервер базы данных отвечает без TLS. Уберите sslmode из адреса или включите TLS на сервере',
  ],
  [
    /certificate|altnames/,
    'DATABASE_URL: сертификат сервера базы данных не проверить. Назовите в адресе имя, на которое он выдан, и sslrootcert=ФАЙЛ',
  ],
]

function explainConnection({ message }: SystemError): string | undefined {
  return CONNECTION_FAILURES.find(([words]) => words.test(message))?.[1]
}

function explainFile(error: SystemError): string | undefined {
  // A rename of a file that is complete names its hidden name first.
  const path = error.dest ?? error.path
  if (path !== undefined) return `${path}: ${whyFailed(error)}`
  const reason = fileReason(error)
  // The error of a call on an open file names no path.
  return reason && `Файл не ${error.syscall === 'read' ? 'прочитан' : 'записан'}: ${reason}`
}

function explainListen(error: SystemError, prefix: string): string {
  const { code, address, port } = error
  const place = `${address}:${port}`
  const variable = `${prefix}PORT`
  if (code === 'EADDRINUSE') {
    return `${variable}: ${place} уже занят другой программой. Задайте другой ${variable}`
  }
  if (code === 'EACCES') {
    return `${variable}: нет права слушать ${place}. Задайте другой ${variable}`
  }
  return `${prefix}HOST: не получилось слушать: ${whyFailed(error)}`
}
