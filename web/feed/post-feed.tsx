import { errorMessage } from '../api/error-message.ts'
import { type ListSource, type PostListView, usePostList } from '../posts/cache/use-post-list.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorRow } from '../ui/error-row.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { FeedPost } from './feed-post.tsx'
import { NewPostsPill } from './new-posts-pill.tsx'
import { useNearEnd } from './use-near-end.ts'
import { useScrollPlace } from './use-scroll-place.ts'

const FIRST_SKELETONS = 6
const MORE_SKELETONS = 2

type PostFeedProps = {
  source: ListSource
  /** The name of the list for screen readers. */
  label: string
  /** For the replies to the post above them: what they answer needs no repeating. */
  withoutQuotes?: boolean
  /** Tells of posts published elsewhere meanwhile. */
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

/** What follows the posts: skeletons of the next ones, a failure with a way to try again, or nothing. */
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
