import { Gate } from '../kernel/gate/gate.ts'
import { createHelperThread } from '../kernel/threads/threads.ts'
import type { Answer, Asked, MadePage, MakerData, PageParts, PictureParts } from './make-page.ts'

/** So many pages wait to be rendered. The others come plain: their texts and links. */
const RENDERED_MAX = 3
const SILENCE_MS = 10_000
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 12 }

export type PageMaker = ReturnType<typeof createPageMaker>

/**
 * Makes pages one after the other in a thread of its own, which has a lower priority: rendering
 * takes nothing from reads of the API and from what people do.
 */
export function createPageMaker(data: MakerData) {
  const file = new URL('./make-page.ts', import.meta.url)
  const thread = createHelperThread<Asked, Answer>(file, {
    memory: MEMORY,
    silenceMs: SILENCE_MS,
    data,
  })

  async function ask<A extends Answer>(what: Asked): Promise<A> {
    const answer = await thread.ask(what)
    if ('failure' in answer) throw answer.failure
    return answer as A
  }

  return {
    rendered: new Gate({ running: RENDERED_MAX }),
    make: (page: PageParts) => ask<MadePage>({ page }),
    pictureParts: (username: string) => ask<PictureParts>({ pictureOf: username }),
    stop: thread.stop,
  }
}
