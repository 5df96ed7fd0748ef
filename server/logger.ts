import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import type { LogLevel } from './config.ts'
import { createLineWriter } from './line-writer.ts'

/** Lines are written several at a time, a second late at most: a write a line would cost more than a read. */
const GATHER = 4096
/** Some 6,000 lines wait while the log cannot be written. */
const WAITING_MAX = 1024 * 1024

/**
 * The product's log: a JSON line an event, on standard error, so that standard output stays for the person at the
 * terminal. Of an error it keeps type, code, message and stack: a database error's other fields quote rows. Where it
 * cannot be written the product goes on: lines wait, past a mebibyte they are dropped, and a later line says how many.
 */
export function createLogger(
  level: LogLevel,
  destination?: NodeJS.WritableStream,
): FastifyBaseLogger {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: {
      err: ({ name, message, stack, code }: Error & { code?: unknown }) => ({
        name,
        code,
        message,
        stack,
      }),
      req: ({ method }: { method: string }) => ({ method }),
      // Whom these are about is shown as a keyed hash or not at all: see http/hashed-log.ts.
      network: () => undefined,
      limitKey: () => undefined,
      res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    },
  }
  const output =
    destination ??
    createLineWriter(process.stderr, {
      gather: GATHER,
      most: WAITING_MAX,
      onDropped: (lines) => log.warn({ dropped: lines }, 'log lines dropped'),
    })
  const log = pino(options, output) as FastifyBaseLogger
  return log
}
