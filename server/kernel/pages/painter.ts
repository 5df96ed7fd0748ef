import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { AppError } from '../errors/app-error.ts'
import type { Painting } from './paint-post.ts'

/** Of the requests that run at once (load-shedding.ts), as many may wait for pictures. */
const WAITING_MAX = 8
/** Those who asked are refused sooner; what is painted late is cached for when they ask again. */
const PAINT_MS = 30_000
/** After which the thread ends, and with it the memory of its fonts. */
const IDLE_MS = 60_000
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

/** Paints one picture after the other in a thread of its own, which the first picture starts. */
export function createPainter() {
  const painting = new Map<string, Promise<Buffer>>()
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  function start(): Worker {
    const started = new Worker(new URL('./paint-post.ts', import.meta.url), {
      resourceLimits: MEMORY,
    })
    started.unref()
    // Whatever text it stumbles over, only its picture fails.
    started.on('error', stop)
    return started
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const stopped = worker
    worker = undefined
    await stopped?.terminate()
  }

  async function paintNext(asked: Painting): Promise<Buffer> {
    clearTimeout(idle)
    worker ??= start()
    worker.postMessage(asked)
    try {
      const [png] = await once(worker, 'message', { signal: AbortSignal.timeout(PAINT_MS) })
      idle = setTimeout(stop, IDLE_MS).unref()
      return Buffer.from(png)
    } catch (error) {
      await stop()
      throw (error as Error).name === 'AbortError' ? new AppError('UNAVAILABLE') : error
    }
  }

  function begin(asked: Painting): Promise<Buffer> {
    const picture = last.then(() => paintNext(asked))
    painting.set(asked.tag, picture)
    const end = () => painting.delete(asked.tag)
    last = picture.then(end, end)
    return picture
  }

  return {
    isBusy: () => waiting >= WAITING_MAX,

    /** Resolves to a PNG; rejects with UNAVAILABLE while too many wait. */
    async paint(asked: Painting): Promise<Buffer> {
      if (waiting >= WAITING_MAX) throw new AppError('UNAVAILABLE')
      waiting++
      try {
        return await (painting.get(asked.tag) ?? begin(asked))
      } finally {
        waiting--
      }
    },

    stop,
  }
}
