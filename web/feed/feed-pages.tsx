import {
  type ComponentType,
  Fragment,
  memo,
  type ReactNode,
  startTransition,
  useEffect,
  useState,
} from 'react'
import { whenIdle } from '../platform/when-idle.ts'
import type { ShownPage } from '../posts/cache/list-cache.ts'
import { usePost } from '../posts/cache/post-cache.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import styles from './feed-pages.module.css'
import { PostActions, PostMenuButton } from './post-controls.tsx'

/** A list of a thousand posts is whole within some seconds. */
const IDLE_MS = 50
const PAGES_PER_STEP = 2

type FeedPagesProps = {
  pages: readonly ShownPage[]
  /** The post at which the list was left. */
  anchorId: string
  /** The post above which newer ones were put. */
  stoppedAt: string | undefined
  /** Undefined where the positions in the list are not known. */
  setSize: number | undefined
  withoutQuotes: boolean
  card?: ComponentType<FeedCardProps> | undefined
}

/**
 * The browser lays out only the pages near the visible part. A person who returns to a long list
 * first sees the posts at which they left it; the other pages follow when the browser is idle.
 */
export function FeedPages(props: FeedPagesProps) {
  const { pages, anchorId, stoppedAt, setSize, withoutQuotes, card: Card = FeedPost } = props
  const waiting = useWaitingPages(pages, anchorId)
  const topId = pages[0]?.ids[0]
  return pages.map(({ key, ids, above }) => (
    <div key={key} className={styles.page} data-empty={waiting.includes(key) || undefined}>
      {!waiting.includes(key) &&
        ids.map((id, at) => (
          <Fragment key={id}>
            {id === stoppedAt && id !== topId && (
              <div className={styles.stop}>Вы остановились здесь</div>
            )}
            <Card
              id={id}
              ids={ids}
              position={setSize && above + at + 1}
              setSize={setSize}
              withoutQuote={withoutQuotes}
            />
          </Fragment>
        ))}
    </div>
  ))
}

/** Returns the keys of the pages that are not rendered yet: at first all but those at the anchor. */
function useWaitingPages(pages: readonly ShownPage[], anchorId: string): readonly string[] {
  const [waiting, setWaiting] = useState(() => {
    const anchorAt = pages.findIndex(({ ids }) => ids.includes(anchorId))
    return pages
      .map(({ key }, index) => ({ key, distance: Math.abs(index - Math.max(0, anchorAt)) }))
      .filter(({ distance }) => distance > 1)
      .sort((one, other) => one.distance - other.distance)
      .map(({ key }) => key)
  })
  useEffect(() => {
    if (waiting.length === 0) return
    return whenIdle(() => startTransition(() => setWaiting(waiting.slice(PAGES_PER_STEP))), IDLE_MS)
  }, [waiting])
  return waiting
}

export type FeedCardProps = {
  id: string
  /** The posts of its page. */
  ids: readonly string[]
  position: number | undefined
  setSize: number | undefined
  withoutQuote: boolean
}

type FeedPostProps = FeedCardProps & { above?: ReactNode }

export const FeedPost = memo(function FeedPost({ id, ids: _, ...props }: FeedPostProps) {
  const post = usePost(id)
  if (!post) return null
  return (
    <PostCard {...props} post={post} menu={<PostMenuButton post={post} />}>
      <PostActions post={post} />
    </PostCard>
  )
})
