import { Worker } from 'node:worker_threads'
import type { Answer, Asked, MadePage, MakerData, PageParts, PictureParts } from './make-page.ts'

/** Of pages that wait, so many are rendered. The others come plain: their texts and links. */
const RENDERED_MAX = 3
/** Whatever it stumbles over, a thread that has been silent for so long is replaced. */
const SILENCE_MS = 10_000
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 12 }

export type PageMaker = ReturnType<typeof createPageMaker>

/**
 * Makes pages one after the other in a thread of its own, which has a lower priority: rendering
 * takes nothing from reads of the API and from what people do.
 */
export function createPageMaker(data: MakerData) {
  /** In the order in which they were asked for, which is that of the answers. */
  let asked: PromiseWithResolvers<Answer>[] = []
  let silence: NodeJS.Timeout | undefined
  // At once, so that the first page need not wait for it.
  let worker: Worker | undefined = start()

  function start(): Worker {
    const started = new Worker(new URL('./make-page.ts', import.meta.url), {
      workerData: data,
      resourceLimits: MEMORY,
    })
    started.unref()
    started.on('message', (answer: Answer) => {
      // One that was stopped may still answer, to whom nobody waits for any more.
      if (started !== worker) return
      clearTimeout(silence)
      asked.shift()?.resolve(answer)
      if (asked.length > 0) watch()
    })
    started.on('error', stop)
    return started
  }

  function watch(): void {
    silence = setTimeout(stop, SILENCE_MS, new Error('The thread of pages is silent')).unref()
  }

  async function stop(reason = new Error('The server stops')): Promise<void> {
    clearTimeout(silence)
    const stopped = worker
    const waiting = asked
    worker = undefined
    asked = []
    for (const { reject } of waiting) reject(reason)
    await stopped?.terminate()
  }

  async function ask<A extends Answer>(what: Asked): Promise<A> {
    const answer = Promise.withResolvers<Answer>()
    worker ??= start()
    if (asked.push(answer) === 1) watch()
    worker.postMessage(what)
    const answered = await answer.promise
    if ('failure' in answered) throw answered.failure
    return answered as A
  }

  return {
    /** Whether the next page should be plain. */
    isBusy: () => asked.length >= RENDERED_MAX,
    make: (page: PageParts) => ask<MadePage>({ page }),
    pictureParts: (username: string) => ask<PictureParts>({ pictureOf: username }),
    stop: () => stop(),
  }
}
