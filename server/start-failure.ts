import { ConfigError } from './config.ts'
import { DataDirTaken } from './db/embedded/lock.ts'
import { isDatabaseUnavailable } from './db/unavailable.ts'

type SystemError = Error & { code?: string; syscall?: string; address?: string; port?: number }

/** What to tell the operator when the product did not start: a sentence where the cause is known, else the stack. */
export function explainStartFailure(cause: unknown): string {
  const error: SystemError = cause instanceof Error ? cause : new Error(String(cause))
  if (error instanceof ConfigError || error instanceof DataDirTaken) return error.message
  if (error.syscall === 'listen' || error.syscall === 'getaddrinfo') return explainListen(error)
  if (isDatabaseUnavailable(error)) return `База данных не отвечает: ${error.message}`
  return error.stack ?? error.message
}

function explainListen({ code, address, port, message }: SystemError): string {
  const place = `${address}:${port}`
  if (code === 'EADDRINUSE')
    return `PORT: ${place} уже занят другой программой. Задайте другой PORT`
  if (code === 'EACCES') return `PORT: нет права слушать ${place}. Задайте другой PORT`
  return `HOST: не получилось слушать: ${message}`
}
