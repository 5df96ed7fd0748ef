import { memo } from 'react'
import { errorMessage } from '../api/error-message.ts'
import { usePost } from '../posts/cache/post-cache.ts'
import { type ListSource, type PostListView, usePostList } from '../posts/cache/use-post-list.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorRow } from '../ui/error-row.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { NewPostsPill } from './new-posts-pill.tsx'
import { PostActions, PostMenu } from './post-controls.tsx'
import { useNearEnd } from './use-near-end.ts'
import { useScrollPlace } from './use-scroll-place.ts'

const FIRST_SKELETONS = 6
const MORE_SKELETONS = 2

type PostFeedProps = {
  source: ListSource
  /** The name of the list for screen readers. */
  label: string
  /** Leaves out the quotes, for replies shown below the post they reply to. */
  withoutQuotes?: boolean
  /** Says when there are posts published elsewhere meanwhile. */
  watchesNew?: boolean
}

/** A list of posts that grows as one scrolls, with its loading, empty and failed states. */
export function PostFeed(props: PostFeedProps) {
  const { source, label, withoutQuotes = false, watchesNew = false } = props
  const list = usePostList(source)
  const end = useNearEnd(
    `${list.ids.length} ${list.more}`,
    list.more === 'failed' ? ignore : list.loadMore,
  )
  useScrollPlace(list.state === 'ready')
  const setSize = list.hasMore ? Math.max(list.total, list.ids.length) : list.ids.length

  return (
    <>
      {watchesNew && list.state === 'ready' && <NewPostsPill list={list} />}
      {(list.ids.length > 0 || list.state === 'loading') && (
        <div
          role="feed"
          aria-label={label}
          aria-busy={list.state === 'loading' || list.more === 'loading'}
        >
          {list.ids.map((id, index) => (
            <FeedPost
              key={id}
              id={id}
              position={index + 1}
              setSize={setSize}
              withoutQuote={withoutQuotes}
            />
          ))}
        </div>
      )}
      <FeedEnd list={list} />
      <div ref={end} />
    </>
  )
}

type FeedPostProps = { id: string; position: number; setSize: number; withoutQuote: boolean }

/** One post of a feed with its menu and actions; renders nothing for a post deleted meanwhile. */
const FeedPost = memo(function FeedPost({ id, ...place }: FeedPostProps) {
  const post = usePost(id)
  if (!post) return null
  return (
    <PostCard {...place} post={post} menu={<PostMenu post={post} />}>
      <PostActions post={post} />
    </PostCard>
  )
})

/** What follows the posts: skeletons of the next ones, an error with a button to try again, or nothing. */
function FeedEnd({ list }: { list: PostListView }) {
  if (list.state === 'loading') return <Skeleton count={FIRST_SKELETONS} />
  if (list.state === 'failed' || list.more === 'failed') {
    return <ErrorRow text={errorMessage(list.error)} onRetry={list.retry} />
  }
  if (list.more === 'loading') return <Skeleton count={MORE_SKELETONS} />
  return list.ids.length === 0 && !list.hasMore ? <NoPosts /> : null
}

function NoPosts() {
  return <EmptyState title="Записи не найдены" text="Возможно, записи скоро появятся" />
}

function ignore(): void {}
