import { AppError } from '../errors/app-error.ts'
import { createHelperThread } from '../threads/helper-thread.ts'
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
  const file = new URL('./paint-post.ts', import.meta.url)
  const thread = createHelperThread<Painting, Uint8Array>(file, {
    memory: MEMORY,
    silenceMs: PAINT_MS,
    idleMs: IDLE_MS,
  })
  const painting = new Map<string, Promise<Buffer>>()
  let waiting = 0

  async function begin(asked: Painting): Promise<Buffer> {
    try {
      return Buffer.from(await thread.ask(asked))
    } catch (error) {
      throw (error as Error).name === 'AbortError' ? new AppError('UNAVAILABLE') : error
    } finally {
      painting.delete(asked.tag)
    }
  }

  function paintOnce(asked: Painting): Promise<Buffer> {
    const picture = painting.get(asked.tag) ?? begin(asked)
    painting.set(asked.tag, picture)
    return picture
  }

  return {
    isBusy: () => waiting >= WAITING_MAX,

    /** Resolves to a PNG; rejects with UNAVAILABLE while too many wait. */
    async paint(asked: Painting): Promise<Buffer> {
      if (waiting >= WAITING_MAX) throw new AppError('UNAVAILABLE')
      waiting++
      try {
        return await paintOnce(asked)
      } finally {
        waiting--
      }
    },

    stop: thread.stop,
  }
}
