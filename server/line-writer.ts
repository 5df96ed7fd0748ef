import { write, writeSync } from 'node:fs'

type Options = {
  /** So many characters are gathered before a write; fewer wait a second at most. */
  gather: number
  /** Characters that may wait while nothing can be written; lines past them are dropped. */
  most: number
  /** Called with the number of lines dropped once it can write again. */
  onDropped?: (lines: number) => void
}

const FLUSH_MS = 1000
const RETRY_MS = 20
/** At the end of the process a pipe's reader gets this long to make room. */
const EXIT_WAIT_MS = 200
const PAUSE_MS = 10

/**
 * Writes whole lines to standard output or standard error, and never waits for it: with the disk full, the reader gone
 * or not reading, lines wait in bounded memory and are tried again. What waits at the end of the process is written
 * then, unless it cannot be.
 */
export function createLineWriter(stream: NodeJS.WriteStream & { fd: number }, options: Options) {
  // Asking for the stream made Node open a pipe as non-blocking: a write to it that had to wait would hold up a thread
  // of the pool, and the end of the process with it. Whoever else writes to the stream must not end the process either.
  stream.on('error', () => {})
  const { fd } = stream
  let waiting: string[] = []
  let waitingSize = 0
  let dropped = 0
  /** What is being written, and whether a write is under way or put off. */
  let chunk: Buffer = Buffer.alloc(0)
  let state: 'idle' | 'writing' | 'put off' = 'idle'

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
      if (error) return putOff()
      state = 'idle'
      chunk = chunk.subarray(written)
      if (chunk.length > 0 || waitingSize > options.gather) return flush()
      if (dropped > 0) tellDropped()
    })
  }

  function putOff(): void {
    state = 'put off'
    setTimeout(() => {
      state = 'idle'
      flush()
    }, RETRY_MS).unref()
  }

  function tellDropped(): void {
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
    /** Takes one or more lines, each with its line feed. */
    write(lines: string): void {
      if (waitingSize + chunk.length + lines.length > options.most) {
        dropped++
        return
      }
      waiting.push(lines)
      waitingSize += lines.length
      if (waitingSize > options.gather) flush()
    },
  }
}
