import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import type { LogLevel } from './config.ts'

/** Lines are written several at a time, a second late at most, and at the end: a write a line would cost more than a read. */
const STANDARD_ERROR = { fd: 2, sync: false, minLength: 4096, periodicFlush: 1000 }

/**
 * The product's log: a JSON line an event, on standard error, so that standard output stays for the person at the
 * terminal. Of an error it keeps type, code, message and stack: a database error's other fields quote rows.
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
      res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    },
  }
  return pino(options, destination ?? pino.destination(STANDARD_ERROR)) as FastifyBaseLogger
}
