import { AppError } from '../errors/app-error.ts'
import { endsWithin } from './deadline.ts'

type Bounds = {
  running: number
  /** How many more may wait, and for how many milliseconds. */
  waiting: number
  waitMs: number
  /** What those are told who would wait too long. */
  message: string
}

const RETRY_SECONDS = 2

/**
 * Makes a function that runs tasks in the order of their calls. It settles as the task does, or
 * rejects with UNAVAILABLE when too many wait already or the task has waited too long.
 */
export function limitConcurrency({ running, waiting, waitMs, message }: Bounds) {
  let count = 0
  const queue = new Set<() => void>()

  async function acquire(): Promise<void> {
    if (count < running) {
      count++
      return
    }
    if (queue.size >= waiting) throw refusal(message)
    const { promise: turn, resolve } = Promise.withResolvers<void>()
    queue.add(resolve)
    const hasTurn = await endsWithin(turn, waitMs)
    // A task that has left the queue got its turn at the last moment.
    if (!hasTurn && queue.delete(resolve)) throw refusal(message)
  }

  function release(): void {
    const [next] = queue
    if (!next) {
      count--
      return
    }
    queue.delete(next)
    next()
  }

  return async <T>(task: () => Promise<T>): Promise<T> => {
    await acquire()
    try {
      return await task()
    } finally {
      release()
    }
  }
}

function refusal(message: string): AppError {
  return new AppError('UNAVAILABLE', { message, retryAfter: RETRY_SECONDS })
}
