import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { AppError } from '../errors/app-error.ts'

type Options = {
  memory: ResourceLimits
  silenceMs: number
  /** The thread ends after this time without a question. If unset, it starts at once and stays. */
  idleMs?: number
  data?: unknown
}

/**
 * Runs a file in a thread that answers messages in order. An error or a silence fails one question,
 * and the next starts a new thread. `ask` rejects with UNAVAILABLE for silence, and once stopped.
 */
export function createHelperThread<Question, Answer>(
  file: URL,
  { memory, silenceMs, idleMs, data }: Options,
) {
  let worker = idleMs === undefined ? start() : undefined
  let idle: NodeJS.Timeout | undefined
  let asking = new AbortController()
  let isOver = false
  let last: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    const started = new Worker(file, { workerData: data, resourceLimits: memory })
    started.unref()
    started.on('error', () => started === worker && end())
    return started
  }

  async function end(): Promise<void> {
    clearTimeout(idle)
    const ended = worker
    worker = undefined
    await ended?.terminate()
  }

  async function askNow(what: Question): Promise<Answer> {
    if (isOver) throw new AppError('UNAVAILABLE')
    clearTimeout(idle)
    asking = new AbortController()
    const silence = setTimeout(() => asking.abort(), silenceMs).unref()
    try {
      worker ??= start()
      worker.postMessage(what)
      const [answer] = await once(worker, 'message', { signal: asking.signal })
      if (idleMs !== undefined) idle = setTimeout(end, idleMs).unref()
      return answer
    } catch (error) {
      await end()
      throw asking.signal.aborted ? new AppError('UNAVAILABLE') : error
    } finally {
      clearTimeout(silence)
    }
  }

  return {
    ask(what: Question): Promise<Answer> {
      const answer = last.then(() => askNow(what))
      last = answer.catch(() => {})
      return answer
    },
    async stop(): Promise<void> {
      isOver = true
      asking.abort()
      await end()
    },
  }
}

const LOWEST = 19

/** On Linux, lowers this thread to a thirtieth of a core beside a busy thread (sched(7)). */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(LOWEST, getPriority() + 15))
}
