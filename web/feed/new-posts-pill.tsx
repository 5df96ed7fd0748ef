import { ArrowUp } from 'lucide'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { focusContent } from '../history/focus-content.ts'
import { useAction } from '../http/use-action.tsx'
import { wait } from '../platform/timing.ts'
import { hidden } from '../posts/cache/hidden.ts'
import { type News, onNews } from '../posts/cache/news-stream.ts'
import type { ListSource, NamedPost, Newer, PostListView } from '../posts/cache/use-post-list.ts'
import { classes } from '../ui/classes.ts'
import { Icon } from '../ui/icon.tsx'
import styles from './new-posts-pill.module.css'
import type { Place } from './use-scroll-anchor.ts'

/** The event about the viewer's own post may arrive before the answer to the call. */
const OWN_ANSWER_MS = 300
/** Spreads the reads of many browsers over time. */
const READ_WITHIN_MS = 30_000

type NewsOptions = {
  list: PostListView
  source: ListSource
  newer: Newer
  /** Whether the list was read some time ago. */
  isOld: boolean
}

/** The ids of newer posts, which the button adds to the list, or `top`, to which it scrolls up. */
type Offer = readonly string[] | 'top'

const NOTHING: Offer = []

/**
 * New posts must not move what is being read, so they wait for a tap, which adds the next of them
 * above. A second tap scrolls to the newest.
 */
export function NewPostsPill({ place, ...options }: NewsOptions & { place: Place }) {
  const { list, newer } = options
  const [offer, setOffer] = useOffer(options)
  const top = useRef<HTMLDivElement>(null)
  const act = useAction({ mutationFn: offer === 'top' ? goUp : showNewer, errors: 'toast' })

  async function showNewer(): Promise<void> {
    place.keep()
    const hasShown = await list.showNewer()
    setOffer(hasShown ? 'top' : NOTHING)
    if (!hasShown) focusContent()
  }

  async function goUp(): Promise<void> {
    place.leave()
    if (!list.isFromTop) await list.restart()
    top.current?.scrollIntoView()
    focusContent()
  }

  // A reader who has scrolled to the top needs no button.
  useEffect(() => {
    if (offer !== 'top' || !list.isFromTop || !top.current) return
    const observer = new IntersectionObserver((entries) => {
      if ((entries.at(-1)?.boundingClientRect.bottom ?? 0) >= 0) setOffer(NOTHING)
    })
    observer.observe(top.current)
    return () => observer.disconnect()
  }, [offer, setOffer, list.isFromTop])

  return (
    <>
      <div ref={top} className={styles.top} />
      <div className={styles.place} role="status">
        {offer.length > 0 && (
          <button
            type="button"
            className={classes('line', styles.pill)}
            aria-disabled={act.isPending || undefined}
            onClick={() => act.mutate()}
          >
            <Icon shape={ArrowUp} size={16} />
            {offer === 'top' ? newer.toTop : newer.show}
          </button>
        )}
      </div>
    </>
  )
}

/**
 * Offers newer posts when a news event names some that the list lacks. Reads the list only if an
 * event was missed, may be outdated, or cannot name all posts.
 */
function useOffer({ list, source, newer, isOld }: NewsOptions) {
  const [offer, setOffer] = useState<Offer>(NOTHING)
  // The answer to publishing may come long after the event. The id is dropped for good, because
  // `published` loses it when the post is deleted.
  const left = offer === 'top' ? offer : offer.filter((id) => !list.published.includes(id))
  if (left.length < offer.length) setOffer(left)
  const reading = useRef<ReturnType<typeof setTimeout>>(undefined)
  const isShown = ({ by = '' }: NamedPost) => !hidden.get().authors.includes(by)
  const isNew = ({ id }: NamedPost) => list.isNew(id)

  const take = useEffectEvent((posts: readonly NamedPost[]) => {
    const ids = posts.filter((post) => isShown(post) && isNew(post)).map(({ id }) => id)
    if (ids.length > 0) setOffer((former) => (former === 'top' ? ids : [...former, ...ids]))
  })

  const readIn = useEffectEvent((ms: number) => {
    reading.current ??= setTimeout(async () => {
      // A read that fails is repeated on the next news event.
      const page = await source.read('').catch(() => undefined)
      reading.current = undefined
      take(page?.posts.map(({ id, owner }) => ({ id, by: owner.id })) ?? [])
    }, ms)
  })

  const onEvent = useEffectEvent(async (event: News) => {
    if (event.kind === 'missed') return readIn(0)
    const named = newer.namedIn(event)
    if (named?.length === 0) return
    if (named && event.kind === 'former') {
      if ((offer === 'top' || offer.length === 0) && named.some(isNew)) readIn(0)
    } else if (named?.some(isShown)) {
      await wait(OWN_ANSWER_MS)
      take(named)
      // Posts of other authors may have come in the same second.
    } else readIn(Math.random() * READ_WITHIN_MS)
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

  return [offer, setOffer] as const
}
