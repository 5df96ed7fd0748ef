import { endsWithin } from '../db/deadline.ts'
import { AppError } from '../http/app-error.ts'

type Bounds = {
  atOnce: number
  /** How many more may wait for their turn, and how long (ms). */
  inLine: number
  waitMs: number
}

const RETRY_SECONDS = 2

/**
 * Makes the function that runs some work in its turn: so many pieces at once, the next in line after them in their order.
 * It rejects as the work does, and with UNAVAILABLE when the line is full or the turn does not come in time.
 */
export function createTurns({ atOnce, inLine, waitMs }: Bounds) {
  let atWork = 0
  const line = new Set<() => void>()

  async function takeTurn(): Promise<void> {
    if (atWork < atOnce) {
      atWork++
      return
    }
    if (line.size >= inLine) throw refusal()
    const { promise: turn, resolve } = Promise.withResolvers<void>()
    line.add(resolve)
    const isInTime = await endsWithin(turn, waitMs)
    // One that is no longer in the line was given its turn just then.
    if (!isInTime && line.delete(resolve)) throw refusal()
  }

  function passTurn(): void {
    const [next] = line
    if (!next) {
      atWork--
      return
    }
    line.delete(next)
    next()
  }

  return async <T>(work: () => Promise<T>): Promise<T> => {
    await takeTurn()
    try {
      return await work()
    } finally {
      passTurn()
    }
  }
}

function refusal(): AppError {
  return new AppError('UNAVAILABLE', {
    message: 'Так далеко от начала сейчас читают многие. Попробуйте ещё раз через несколько секунд',
    retryAfter: RETRY_SECONDS,
  })
}

/**
 * Reads of pages far from either end of a list. Each counts its way there through the index, at the cost of a processor for
 * up to a tenth of a second in the middle of a million posts: each node asks for two at a time, and leaves the rest to others.
 */
export const readDeep = createTurns({ atOnce: 2, inLine: 16, waitMs: 1000 })
