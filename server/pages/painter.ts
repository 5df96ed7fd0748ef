import { AppError } from '../kernel/errors/app-error.ts'
import { Gate } from '../kernel/gate/gate.ts'
import { createHelperThread } from '../kernel/threads/threads.ts'
import type { Painting } from './paint-post.ts'

/** Further requests for pictures are refused. */
const WAITING_MAX = 8
/** Requests end sooner; a late picture is cached for the next one. */
const PAINT_MS = 30_000
/** Then the thread ends, and frees the memory of its fonts. */
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
    /** Resolves to a PNG; rejects with UNAVAILABLE if too many others wait. */
    paint(asked: Painting): Promise<Buffer> {
      const picture = painting.get(asked.tag) ?? paint(asked)
      painting.set(asked.tag, picture)
      return picture
    },
    stop: thread.stop,
  }
}
