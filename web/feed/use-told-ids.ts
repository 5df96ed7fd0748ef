import { useEffect, useRef, useState } from 'react'
import { createAtom, useAtom } from '../platform/atom.ts'
import { wait } from '../platform/wait.ts'
import type { ListSource, PostListView } from '../posts/cache/use-post-list.ts'
import { hidden } from '../session/hidden.ts'
import { onNews } from '../session/news-stream.ts'

/** One's own post is told of before the call that publishes it has its answer. */
const OWN_ANSWER_MS = 300
const TOLD_MAX = 50
const NONE: readonly string[] = []
/** So that many pages do not ask at once. */
const READ_WITHIN_MS = 30_000

/**
 * Returns the ids of posts that the stream of news names for a list. The list is read only where
 * news may have been missed or be gone: `isOld` says that this is so from the beginning.
 */
export function useToldIds(list: PostListView, { read, newer }: ListSource, isOld: boolean) {
  // Outside of React, because a second event may come before the first is rendered.
  const [told] = useState(() => createAtom(NONE))
  const shown = useRef(list)
  useEffect(() => {
    shown.current = list
  }, [list])

  useEffect(() => {
    if (!newer) return
    let reading: ReturnType<typeof setTimeout> | undefined

    const tell = (ids: readonly string[]) => told.set([...ids, ...told.get()].slice(0, TOLD_MAX))

    function readIn(ms: number): void {
      reading ??= setTimeout(async () => {
        // What fails is read with the next news.
        const page = await read('').catch(() => undefined)
        reading = undefined
        const { authors } = hidden.get()
        const visible = page?.posts.filter(({ owner }) => !authors.includes(owner.id))
        if (visible) tell(visible.map(({ id }) => id))
      }, ms)
    }

    if (isOld) readIn(0)
    const stop = onNews(async (event) => {
      const named = event && newer.namedIn(event)
      const { authors } = hidden.get()
      // No button may lead to what the viewer has hidden.
      const visible = named?.filter(({ by = '' }) => !authors.includes(by)) ?? []
      if (event === null) readIn(0)
      else if (named && event.isFormer) {
        const isNew = (id: string) => shown.current.hasNewer(id) && !told.get().includes(id)
        if (named.some(({ id }) => isNew(id))) readIn(0)
      } else if (visible.length > 0) {
        await wait(OWN_ANSWER_MS)
        tell(visible.map(({ id }) => id))
      } else if (named?.length !== 0) {
        // Others may have come in the same second.
        readIn(Math.random() * READ_WITHIN_MS)
      }
    })
    return () => {
      clearTimeout(reading)
      stop()
    }
  }, [read, newer, isOld, told])

  const forget = (ids: readonly string[]) => told.set(told.get().filter((id) => !ids.includes(id)))
  return { told: useAtom(told, NONE), forget }
}
