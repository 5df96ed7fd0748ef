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
import type { PlacedPage, ShownPage } from '../posts/cache/list-cache.ts'
import { usePost } from '../posts/cache/post-cache.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import styles from './feed-pages.module.css'
import { GapRow } from './gap-row.tsx'
import { PostActions, PostMenuButton } from './post-controls.tsx'

/** A list of a thousand posts is whole within some seconds. */
const IDLE_MS = 50

type FeedPagesProps = {
  pages: readonly PlacedPage[]
  /** The post at which the list was left. */
  anchorId: string
  setSize: number
  withoutQuotes: boolean
  card?: ComponentType<FeedCardProps> | undefined
  /** Reads on at the cursor of a gap between two pages. */
  onFillGap: (cursor: string) => Promise<void>
}

/**
 * The browser lays out only the pages near the visible part. A person who returns to a long list
 * first sees the posts at which they left it; the other pages follow when the browser is idle.
 */
export function FeedPages({
  pages,
  anchorId,
  setSize,
  withoutQuotes,
  card: Card = FeedPost,
  onFillGap,
}: FeedPagesProps) {
  const isRendered = useRenderedPages(pages, anchorId)
  return pages.map(({ key, ids, gap, isStop, above }, index) => (
    <Fragment key={key}>
      {isStop && index > 0 && <div className={styles.stop}>Вы остановились здесь</div>}
      <div className={styles.page} data-empty={!isRendered(index) || undefined}>
        {isRendered(index) &&
          ids.map((id, at) => (
            <Card
              key={id}
              id={id}
              ids={ids}
              position={above === null ? undefined : above + at + 1}
              setSize={above === null ? undefined : setSize}
              withoutQuote={withoutQuotes}
            />
          ))}
      </div>
      {gap && <GapRow gap={gap} onFill={onFillGap} />}
    </Fragment>
  ))
}

/** At first only the pages around the anchor are rendered, but later ones at once. */
function useRenderedPages(pages: readonly ShownPage[], anchorId: string) {
  const [notYetRendered] = useState(() => new Set(pages.map(({ key }) => key)))
  const [radius, setRadius] = useState(1)
  const anchorAt = pages.findIndex(({ ids }) => ids.includes(anchorId))
  const middle = Math.max(0, anchorAt)
  const isRendered = (index: number) =>
    Math.abs(index - middle) <= radius || !notYetRendered.has(pages[index]?.key ?? '')
  const isWhole = pages.every((_, index) => isRendered(index))

  useEffect(() => {
    // Pages that come above them later do not empty them.
    for (const [index, { key }] of pages.entries()) {
      if (isRendered(index)) notYetRendered.delete(key)
    }
  })

  useEffect(() => {
    if (isWhole) return
    return whenIdle(() => startTransition(() => setRadius(radius + 1)), IDLE_MS)
  }, [isWhole, radius])

  return isRendered
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
