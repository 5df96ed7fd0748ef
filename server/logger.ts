import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import type { LogLevel } from './config.ts'
import { createLineWriter } from './line-writer.ts'

/** Characters that are written together, a second late at most: a write for each line would cost more than a read. */
const BATCH_SIZE = 4096
/** Characters that may wait while the log cannot be written: about 6,000 lines. */
const WAITING_MAX = 1024 * 1024

/**
 * Makes the product's log: one JSON line for each event on standard error, so that standard output remains for the person
 * at the terminal. Only type, code, message and stack of an error are logged: the other fields of a database error quote
 * rows. Where the log cannot be written, the product goes on: lines wait, past a mebibyte they are dropped, and a later
 * line says how many.
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
      // Addresses and keys of rate limits are written as keyed hashes or not at all: see http/request-log.ts.
      network: () => undefined,
      limitKey: () => undefined,
      res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    },
  }
  const output =
    destination ??
    createLineWriter(process.stderr, {
      batchSize: BATCH_SIZE,
      maxWaiting: WAITING_MAX,
      onDropped: (lines) => log.warn({ dropped: lines }, 'log lines dropped'),
    })
  const log = pino(options, output) as FastifyBaseLogger
  return log
}
