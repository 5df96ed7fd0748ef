import { ArrowUp } from 'lucide'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { wait } from '../platform/timing.ts'
import { type News, onNews } from '../posts/cache/news-stream.ts'
import {
  type ListSource,
  type NamedPost,
  type Newer,
  type PostListView,
  readPage,
} from '../posts/cache/use-post-list.ts'
import { useAction } from '../session/use-action.tsx'
import { isSecondClick } from '../ui/button.tsx'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icon.tsx'
import { liveRegion } from '../ui/live-region.ts'
import styles from './new-posts-pill.module.css'
import { useNear } from './use-near.ts'
import type { ReadingPlace } from './use-scroll-anchor.ts'

/** The wait for an answer: the event about the viewer's own post may arrive before it. */
const OWN_ANSWER_MS = 300
/** The time over which the reads of many browsers are spread. */
const READ_WITHIN_MS = 30_000

type NewsOptions = {
  list: PostListView
  source: ListSource
  newer: Newer
  /** Whether the list was read some time ago. */
  isOld: boolean
}

/** Shows new posts after a tap, which moves nothing. A second tap scrolls to the newest. */
export function NewPostsPill({ place, ...options }: NewsOptions & { place: ReadingPlace }) {
  const { list, newer } = options
  const [named, forget] = useNamed(options)
  /** Whether a tap has added posts that the reader has not scrolled up to. */
  const [hasAdded, setHasAdded] = useState(false)
  // A reader who has scrolled to the top needs no button.
  const top = useNear(() => setHasAdded(hasAdded && !list.isFromTop), '0px')
  const hasNew = named.some(list.isNew)
  const leadsUp = hasAdded && !hasNew
  const act = useAction({ mutationFn: leadsUp ? goUp : showNewer, errors: 'toast' })

  async function showNewer(): Promise<void> {
    place.keep()
    setHasAdded(await list.showNewer())
    forget()
  }

  async function goUp(): Promise<void> {
    place.leave()
    if (!list.isFromTop) await list.restart()
    top.current?.scrollIntoView()
  }

  const isShown = hasNew || hasAdded || act.isPending
  return (
    <>
      <div ref={top} className={styles.top} />
      <div className={styles.place} {...liveRegion(isShown)}>
        {isShown && (
          <button
            type="button"
            className={classes('line act target', styles.pill)}
            aria-disabled={act.isPending || undefined}
            onClick={(event) => !isSecondClick(event) && act.mutate()}
          >
            <Icon shape={ArrowUp} size={16} />
            {leadsUp ? newer.toTop : newer.show}
          </button>
        )}
      </div>
    </>
  )
}

/** A list with an `unknown` change has to be read. Posts of a `former` one may be deleted. */
type Change =
  | { kind: 'unknown'; withinMs: number }
  | { kind: 'added' | 'former'; posts: readonly NamedPost[] }

/** Returns what a news event tells about a list. */
function changeBy(event: News, newer: Newer): Change {
  if (event.kind === 'missed') return { kind: 'unknown', withinMs: 0 }
  const posts = newer.namedIn(event)
  if (!posts) return { kind: 'unknown', withinMs: READ_WITHIN_MS }
  return { kind: event.kind === 'former' ? 'former' : 'added', posts }
}

/** Returns the posts that news events name. Reads the list only if an event cannot name all. */
function useNamed({ list, source, newer, isOld }: NewsOptions) {
  const [named, setNamed] = useState<readonly NamedPost[]>([])
  const reading = useRef<ReturnType<typeof setTimeout>>(undefined)

  const add = (posts: readonly NamedPost[]) => setNamed((known) => [...known, ...posts])

  function readWithin(ms: number): void {
    reading.current ??= setTimeout(async () => {
      // A read that fails is repeated on the next news event.
      const page = await readPage(source).catch(() => undefined)
      reading.current = undefined
      add(page?.ids.map((id) => ({ id })) ?? [])
    }, Math.random() * ms)
  }

  const onEvent = useEffectEvent(async (event: News) => {
    const change = changeBy(event, newer)
    switch (change.kind) {
      case 'unknown':
        return readWithin(change.withinMs)
      case 'added':
        await wait(OWN_ANSWER_MS)
        return add(change.posts)
      case 'former': {
        const isNamed = (id: string) => named.some((it) => it.id === id)
        // A read since the stream was opened may have brought them.
        if (change.posts.some(({ id }) => list.isNew({ id }) && !isNamed(id))) readWithin(0)
      }
    }
  })
  const onStart = useEffectEvent(() => isOld && readWithin(0))

  useEffect(() => {
    onStart()
    const stop = onNews(onEvent)
    return () => {
      stop()
      clearTimeout(reading.current)
      reading.current = undefined
    }
  }, [])

  // Posts that came after the tap may be newer than the posts that it read.
  return [named, () => setNamed((known) => known.slice(named.length))] as const
}
