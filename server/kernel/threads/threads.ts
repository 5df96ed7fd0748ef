import { once } from 'node:events'
import { getPriority, setPriority } from 'node:os'
import { type ResourceLimits, Worker } from 'node:worker_threads'

const SILENT = new Error('The thread is silent')
const OVER = new DOMException('The server stops', 'AbortError')

type Options = {
  memory: ResourceLimits
  /** Whatever it stumbles over, a thread that is silent for so long is stopped. */
  silenceMs: number
  /** It ends after so long without a question. If unset, it starts at once and never idles out. */
  idleMs?: number
  data?: unknown
}

export type HelperThread<Asked, Answer> = {
  /**
   * Resolves to the thread's answer; answers come in the order of the questions. An error or a
   * silence fails the current question only: the next one starts a new thread. Rejects with an
   * AbortError for silence, and once the thread is stopped.
   */
  ask(what: Asked): Promise<Answer>
  /** Stops the thread for good, and rejects all questions. */
  stop(): Promise<void>
}

/**
 * Runs a file that answers each message with one message, in a thread that ends with the process.
 */
export function createHelperThread<Asked, Answer>(
  file: URL,
  { memory, silenceMs, idleMs, data }: Options,
): HelperThread<Asked, Answer> {
  let worker = idleMs === undefined ? start() : undefined
  let idle: NodeJS.Timeout | undefined
  let asking = new AbortController()
  let isOver = false
  let last: Promise<unknown> = Promise.resolve()

  function start(): Worker {
    const started = new Worker(file, { workerData: data, resourceLimits: memory })
    started.unref()
    // This may happen between two questions, and a replaced thread may fail again while it ends.
    started.on('error', () => started === worker && end())
    return started
  }

  async function end(): Promise<void> {
    clearTimeout(idle)
    const ended = worker
    worker = undefined
    await ended?.terminate()
  }

  async function askNow(what: Asked): Promise<Answer> {
    if (isOver) throw OVER
    clearTimeout(idle)
    asking = new AbortController()
    const silence = setTimeout(() => asking.abort(SILENT), silenceMs).unref()
    try {
      worker ??= start()
      worker.postMessage(what)
      const [answer] = await once(worker, 'message', { signal: asking.signal })
      if (idleMs !== undefined) idle = setTimeout(end, idleMs).unref()
      return answer
    } catch (error) {
      await end()
      throw error
    } finally {
      clearTimeout(silence)
    }
  }

  return {
    ask(what) {
      const answer = last.then(() => askNow(what))
      last = answer.catch(() => {})
      return answer
    },
    async stop() {
      isOver = true
      asking.abort(OVER)
      await end()
    },
  }
}

const LOWEST = 19

/**
 * Lowers the priority of this thread by 15, so that beside a busy one it gets a thirtieth of a core;
 * see sched(7). Only Linux has priorities of threads.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(LOWEST, getPriority() + 15))
}
