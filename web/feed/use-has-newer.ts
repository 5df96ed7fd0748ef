import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { wait } from '../platform/wait.ts'
import { hidden } from '../posts/cache/hidden.ts'
import { isPublishedHere } from '../posts/cache/list-cache.ts'
import { type News, onNews } from '../posts/cache/news-stream.ts'
import type { ListSource, NamedPost, PostListView } from '../posts/cache/use-post-list.ts'

/** One's own post is named before the call that publishes it has its answer. */
const OWN_ANSWER_MS = 300
/** Spreads the reads of many pages. */
const READ_WITHIN_MS = 30_000

/**
 * Returns whether the stream of news names posts that a list lacks, and sets it. The list is read
 * only if news may have been missed or be gone; `isOld` states that this is so from the beginning.
 */
export function useHasNewer(
  list: PostListView,
  { name, read, newer }: ListSource,
  isOld: boolean,
): [hasNewer: boolean, set: (hasNewer: boolean) => void] {
  const client = useQueryClient()
  const [hasNewer, setHasNewer] = useState(false)
  const reading = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isShown = ({ by = '' }: NamedPost) => !hidden.get().authors.includes(by)
  const isNew = ({ id }: NamedPost) => list.isNew(id) && !isPublishedHere(client, name, id)

  const tell = useEffectEvent((posts: readonly NamedPost[]) => {
    if (posts.some((post) => isShown(post) && isNew(post))) setHasNewer(true)
  })

  const readIn = useEffectEvent((ms: number) => {
    reading.current ??= setTimeout(async () => {
      // A read that fails is repeated on the next news event.
      const page = await read('').catch(() => undefined)
      reading.current = undefined
      tell(page?.posts.map(({ id, owner }) => ({ id, by: owner.id })) ?? [])
    }, ms)
  })

  const onEvent = useEffectEvent(async (event: News) => {
    if (event.kind === 'missed') return readIn(0)
    const named = newer?.namedIn(event)
    if (named && event.kind === 'former') {
      if (!hasNewer && named.some(isNew)) readIn(0)
    } else if (named?.some(isShown)) {
      await wait(OWN_ANSWER_MS)
      tell(named)
      // Posts of other authors may have come in the same second.
    } else if (named?.length !== 0) readIn(Math.random() * READ_WITHIN_MS)
  })
  const onStart = useEffectEvent(() => isOld && readIn(0))

  useEffect(() => {
    onStart()
    const stop = onNews(onEvent)
    return () => {
      clearTimeout(reading.current)
      reading.current = undefined
      stop()
    }
  }, [])

  return [hasNewer, setHasNewer]
}
