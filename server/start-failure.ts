import { ConfigError } from './config.ts'
import { DataDirTaken } from './db/embedded/lock.ts'
import { isDatabaseUnavailable } from './db/unavailable.ts'

type SystemError = Error & { code?: string; address?: string; port?: number }

/** The server could not listen where PORT and HOST say; the message is a sentence about it. */
export class ListenFailure extends Error {
  constructor(cause: SystemError) {
    super(explainListen(cause), { cause })
  }
}

const EXPLAINED = [ConfigError, DataDirTaken, ListenFailure]

/** What to tell the operator when the product did not start: a sentence where the cause is known, else the stack. */
export function explainStartFailure(cause: unknown): string {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  if (EXPLAINED.some((kind) => error instanceof kind)) return error.message
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
