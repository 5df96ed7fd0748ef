import { once } from 'node:events'
import { type ResourceLimits, Worker } from 'node:worker_threads'

const SILENT = new Error('The thread is silent')
const OVER = new Error('The server stops')

type Options = {
  memory: ResourceLimits
  /** Whatever it stumbles over, a thread that is silent for so long is stopped. */
  silenceMs: number
  /** It ends after so long without a question. Unless set, it is there from the start. */
  idleMs?: number
  data?: unknown
}

export type HelperThread<Asked, Answer> = {
  /**
   * Resolves to the thread's answer, once it has given those to who asked before. What an error or
   * silence ends fails alone: for the next question there is a new thread. Rejects with an
   * AbortError for silence, and while the thread is stopped.
   */
  ask(what: Asked): Promise<Answer>
  /** How many questions have no answer yet. */
  waiting(): number
  /** For good: who waits is refused. */
  stop(): Promise<void>
}

/** Runs a file that answers each message with one message, in a thread that ends with the process. */
export function createHelperThread<Asked, Answer>(
  file: URL,
  { memory, silenceMs, idleMs, data }: Options,
): HelperThread<Asked, Answer> {
  let worker = idleMs === undefined ? start() : undefined
  let idle: NodeJS.Timeout | undefined
  let asking = new AbortController()
  let isOver = false
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  function start(): Worker {
    const started = new Worker(file, { workerData: data, resourceLimits: memory })
    started.unref()
    // Also between two questions.
    started.on('error', end)
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
      waiting++
      const answer = last.then(() => askNow(what)).finally(() => waiting--)
      last = answer.catch(() => {})
      return answer
    },
    waiting: () => waiting,
    async stop() {
      isOver = true
      asking.abort(OVER)
      await end()
    },
  }
}
