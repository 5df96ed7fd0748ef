import { AppError } from '../kernel/errors/app-error.ts'
import { Gate } from '../kernel/gate/gate.ts'
import { createHelperThread } from '../kernel/threads/threads.ts'
import type { Painting } from './paint-post.ts'

/** Of the requests that run at once, as many may wait for pictures. */
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
  const gate = new Gate({ running: WAITING_MAX })

  async function paint(asked: Painting): Promise<Buffer> {
    try {
      return Buffer.from(await gate.run(() => thread.ask(asked)))
    } catch (error) {
      throw (error as Error).name === 'AbortError' ? new AppError('UNAVAILABLE') : error
    } finally {
      painting.delete(asked.tag)
    }
  }

  return {
    gate,
    /** Resolves to a PNG; rejects with UNAVAILABLE while too many others wait. */
    paint(asked: Painting): Promise<Buffer> {
      const picture = painting.get(asked.tag) ?? paint(asked)
      painting.set(asked.tag, picture)
      return picture
    },
    stop: thread.stop,
  }
}
