import { hostname } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import sonicBoom from 'sonic-boom'
import type { LogLevel } from '../config/config.ts'

/** The bytes that one write collects, for a second at most: each write costs a thread switch. */
const BATCH_SIZE = 16 * 1024
const FLUSH_MS = 1000
/** The most bytes that wait to be written, about 6,000 lines; further lines are dropped. */
const WAITING_MAX = 1024 * 1024
const EXIT_WAIT_MS = 200

/** Creates a log that omits further fields of errors, because those of PostgreSQL's quote rows. */
export function createLogger(
  level: LogLevel,
  destination?: NodeJS.WritableStream,
): FastifyBaseLogger {
  const options = {
    level,
    base: { node: hostname() },
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: {
      err: ({ name, message, stack, code }: Error & { code?: unknown }) => ({
        name,
        code,
        message,
        stack,
      }),
      req: ({ method }: { method: string }) => ({ method }),
      // http/request-log.ts writes these as keyed hashes; other logs omit them.
      network: () => undefined,
      limitKey: () => undefined,
      res: ({ statusCode }: { statusCode: number }) => ({ statusCode }),
    },
  }
  if (destination) return pino(options, destination)
  const output = createLineWriter(process.stderr, BATCH_SIZE)
  const log = pino(options, output)
  let dropped = 0
  output.on('drop', () => dropped++)
  output.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    log.warn({ dropped: lines }, 'log lines dropped')
  })
  return log
}

/** Creates a writer that never blocks: while it cannot write, lines wait in bounded memory. */
export function createLineWriter(stream: NodeJS.WriteStream & { fd: number }, batchSize = 0) {
  // Errors of the stream's other writers must not end the process.
  stream.on('error', () => {})
  let retryUntil = Number.POSITIVE_INFINITY
  const writer = new sonicBoom.SonicBoom({
    fd: stream.fd,
    minLength: batchSize,
    maxWrite: Math.max(2 * batchSize, BATCH_SIZE),
    maxLength: WAITING_MAX,
    periodicFlush: FLUSH_MS,
    retryEAGAIN: () => performance.now() < retryUntil,
  })
  writer.on('error', () => {})
  process.on('exit', () => {
    retryUntil = performance.now() + EXIT_WAIT_MS
    try {
      writer.flushSync()
    } catch {}
  })
  return writer
}
