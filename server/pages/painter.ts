import { AppError } from '../kernel/errors/app-error.ts'
import { Gate } from '../kernel/gate/gate.ts'
import { createHelperThread } from '../kernel/threads/threads.ts'
import type { Painting } from './paint-post.ts'

/** The most requests that may wait for a picture; further requests are refused. */
const WAITING_MAX = 8
/** The longest painting. Requests end sooner; a late picture is cached for the next request. */
const PAINT_MS = 30_000
/** After this idle time the thread ends and frees the memory of its fonts. */
const IDLE_MS = 60_000
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 }

/** Creates the painter, whose thread starts with the first picture and paints one at a time. */
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
    /** Resolves to a PNG; rejects with UNAVAILABLE if too many pictures wait. */
    paint(asked: Painting): Promise<Buffer> {
      const picture = painting.get(asked.tag) ?? paint(asked)
      painting.set(asked.tag, picture)
      return picture
    },
    stop: thread.stop,
  }
}
