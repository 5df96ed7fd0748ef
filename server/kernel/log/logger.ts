import { write, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import type { FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import type { LogLevel } from '../config/config.ts'

/** Characters written together, a second late at most: each write is a turn of another thread. */
const BATCH_SIZE = 16 * 1024
/** Characters that may wait while the log cannot be written: about 6,000 lines. */
const WAITING_MAX = 1024 * 1024

/**
 * Makes the product's log: one JSON line for each event on standard error. Of an error only type,
 * code, message and stack are logged, since the other fields of a database error quote rows.
 */
export function createLogger(
  level: LogLevel,
  destination?: NodeJS.WritableStream,
): FastifyBaseLogger {
  const options = {
    level,
    // Where several nodes write to one place, a line names its machine.
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
      // They are written as keyed hashes (http/request-log.ts) or not at all.
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

type Options = {
  /** Characters that are collected for one write; fewer wait a second at most. */
  batchSize: number
  /** Characters that may wait while nothing can be written; lines past them are dropped. */
  maxWaiting: number
  /** Called with the number of dropped lines once writing works again. */
  onDropped?: (lines: number) => void
}

const FLUSH_MS = 1000
const RETRY_MS = 20
/** At the end of the process, the reader of a pipe has this long to make room. */
const EXIT_WAIT_MS = 200
const PAUSE_MS = 10

/**
 * Writes whole lines without ever blocking: while the disk is full, or the reader has gone, lines
 * wait in bounded memory and writing is retried, at the end of the process for the last time.
 */
export function createLineWriter(stream: NodeJS.WriteStream & { fd: number }, options: Options) {
  // Node has opened a pipe as non-blocking, since the caller accessed the stream. Other writers'
  // errors must not end the process.
  stream.on('error', () => {})
  const { fd } = stream
  let waiting: string[] = []
  let waitingSize = 0
  let dropped = 0
  let chunk: Buffer = Buffer.alloc(0)
  let state: 'idle' | 'writing' | 'postponed' = 'idle'

  function takeWaiting(): Buffer {
    const taken = Buffer.from(waiting.join(''))
    waiting = []
    waitingSize = 0
    return taken
  }

  function flush(): void {
    if (state !== 'idle') return
    if (chunk.length === 0) chunk = takeWaiting()
    if (chunk.length === 0) return
    state = 'writing'
    write(fd, chunk, (error, written) => {
      if (error) return postpone()
      state = 'idle'
      chunk = chunk.subarray(written)
      if (chunk.length > 0 || waitingSize > options.batchSize) return flush()
      if (dropped > 0) reportDropped()
    })
  }

  function postpone(): void {
    state = 'postponed'
    setTimeout(() => {
      state = 'idle'
      flush()
    }, RETRY_MS).unref()
  }

  function reportDropped(): void {
    const lines = dropped
    dropped = 0
    options.onDropped?.(lines)
  }

  function flushAtExit(): void {
    let left = state === 'writing' ? takeWaiting() : Buffer.concat([chunk, takeWaiting()])
    const end = performance.now() + EXIT_WAIT_MS
    while (left.length > 0 && performance.now() < end) {
      try {
        left = left.subarray(writeSync(fd, left))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      }
    }
  }

  setInterval(flush, FLUSH_MS).unref()
  process.on('exit', flushAtExit)

  return {
    write(lines: string): void {
      if (waitingSize + chunk.length + lines.length > options.maxWaiting) {
        dropped++
        return
      }
      waiting.push(lines)
      waitingSize += lines.length
      if (waitingSize > options.batchSize) flush()
    },
  }
}
