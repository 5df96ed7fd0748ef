import { type ComponentType, Fragment, memo, type ReactNode, useDeferredValue } from 'react'
import { usePost } from '../posts/cache/post-cache.ts'
import type { PostListView } from '../posts/cache/use-post-list.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import { classes } from '../ui/classes.ts'
import styles from './feed-pages.module.css'
import { PostActions, PostMenuButton } from './post-controls.tsx'

type FeedPagesProps = {
  list: PostListView
  /** The post at which the list was left. */
  anchorId: string
  /** The length of the list; undefined if the positions in it are not known. */
  setSize: number | undefined
  withoutQuotes: boolean
  card?: ComponentType<FeedCardProps> | undefined
}

/**
 * Renders the pages of a list. A reader who returns to a long list first sees the posts where they
 * left it; the other pages are rendered after that.
 */
export function FeedPages(props: FeedPagesProps) {
  const { list, anchorId, setSize, withoutQuotes, card: Card = FeedPost } = props
  const { pages, stoppedAt, nextCursor } = list
  const isShort = pages.length === 1 && nextCursor === null
  const anchorAt = pages.findIndex(({ ids }) => ids.includes(anchorId))
  const isWhole = useDeferredValue(true, anchorId === '')
  const isRendered = (index: number) => isWhole || Math.abs(index - Math.max(0, anchorAt)) <= 1
  return pages.map(({ key, ids, above }, index) => (
    <div
      key={key}
      className={styles.page}
      data-empty={!isRendered(index) || undefined}
      data-short={isShort || undefined}
    >
      {isRendered(index) &&
        ids.map((id, at) => (
          <Fragment key={id}>
            {id === stoppedAt && (
              <div className={classes('line soft band', styles.stop)}>Вы остановились здесь</div>
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

export type FeedCardProps = {
  id: string
  /** The posts of its page. */
  ids: readonly string[]
  position: number | undefined
  setSize: number | undefined
  withoutQuote: boolean
}

type FeedPostProps = Pick<FeedCardProps, 'id'> &
  Partial<FeedCardProps> & { above?: ReactNode; joined?: boolean }

export const FeedPost = memo(function FeedPost({ id, ids: _, ...props }: FeedPostProps) {
  const post = usePost(id)
  if (!post) return null
  return (
    <PostCard {...props} post={post} menu={<PostMenuButton post={post} />}>
      <PostActions post={post} />
    </PostCard>
  )
})
