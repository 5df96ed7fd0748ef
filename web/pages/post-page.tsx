import { useState } from 'react'
import { FROM_OLDEST, PAGE_SIZE } from '../../contract/constants.ts'
import { cursorIn, EMPTY_LIST, isOldestFirst, postPath, withCursor } from '../../contract/pages.ts'
import { hasMoreAncestors, postTitle, threadTitle } from '../../contract/post-rules.ts'
import { Ancestors } from '../feed/ancestors.tsx'
import { PostActions, PostMenuButton } from '../feed/post-controls.tsx'
import { PostFeed } from '../feed/post-feed.tsx'
import { useEntry, usePage, usePageTitle } from '../history/entry.tsx'
import { Read } from '../http/read.tsx'
import { useHydrated } from '../platform/atom.ts'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import { type CachedPost, usePost } from '../posts/cache/post-cache.ts'
import { MISSING_POST, useReadPost } from '../posts/cache/posts.queries.ts'
import { Fresh, type IsFresh } from '../posts/view/post-card.tsx'
import { PostDetail } from '../posts/view/post-detail.tsx'
import { repliesSource } from '../replies/replies.queries.ts'
import { ReplyRow } from '../replies/reply-row.tsx'
import { useUser } from '../session/viewer.ts'
import { classes } from '../ui/classes.ts'
import { EmptyState } from '../ui/states/empty-state.tsx'
import { Lazy } from '../ui/states/lazy.tsx'
import { Skeleton } from '../ui/states/skeleton.tsx'
import styles from './post-page.module.css'
import { WallLink } from './wall.tsx'

/** /posts/:id */
export function PostPage() {
  const page = usePage()
  const id = page?.name === 'post' ? page.id : ''
  const read = useReadPost(id)
  const { data: post } = read
  const tabTitle = post === null ? MISSING_POST.title : post ? postTitle(post) : 'Запись'
  usePageTitle(post ? threadTitle(post) : 'Запись', 'header', tabTitle)
  return (
    <Read query={read} loading={<Skeleton label="Загружаем запись" />}>
      {(post) => (post ? <Thread post={post} /> : <MissingPost id={id} />)}
    </Read>
  )
}

const ownRemovedPost = createLazyChunk(
  () => import('../moderation/appeals/removed-posts.tsx'),
  'OwnRemovedPost',
)

/** Shows that a post is missing, or the viewer's own post that was removed or is hidden. */
function MissingPost({ id }: { id: string }) {
  const user = useUser()
  const missing = <EmptyState {...MISSING_POST} action={<WallLink />} />
  if (!user) return missing
  return (
    <Lazy
      chunk={ownRemovedPost}
      loading={<Skeleton label="Загружаем запись" />}
      fallback={missing}
      props={{ id, children: missing }}
    />
  )
}

const visitedThread = createLazyChunk(
  () => import('../replies/visited-thread.tsx'),
  'VisitedThread',
)

function NoReplies({ isClarified }: { isClarified: boolean }) {
  if (isClarified) return null
  return (
    <div className={classes('soft', styles.noReplies)}>
      <p>{EMPTY_LIST.title}</p>
      <p>{EMPTY_LIST.text}</p>
    </div>
  )
}

function Thread({ post }: { post: CachedPost }) {
  const start = cursorIn(useEntry().search)
  const [isFresh, setFresh] = useState<IsFresh>()
  // Only the browser knows which replies were seen before.
  const isHydrated = useHydrated()
  const clarification = usePost(post.clarification?.id ?? '')
  // It stands under the post.
  const source = { ...repliesSource(post.id, start), without: clarification?.id }
  return (
    <>
      <Ancestors post={post} />
      <div className={hasMoreAncestors(post) ? styles.tall : undefined}>
        <PostDetail post={post} menu={<PostMenuButton post={post} />}>
          <PostActions post={post} />
        </PostDetail>
        <ReplyRow postId={post.id} isFirst={post.actions.replies_count === 0} />
        <div className={styles.heading}>
          <h2 className="heading">Ответы</h2>
          {isHydrated && (
            <Lazy
              key={post.id}
              chunk={visitedThread}
              props={{ post, source, isFresh, setFresh, className: styles.order }}
            />
          )}
          <OrderLink post={post} isFromOldest={isOldestFirst(start)} />
        </div>
        <Fresh value={isFresh}>
          <PostFeed
            source={source}
            label="Ответы"
            empty={<NoReplies isClarified={clarification != null} />}
            areReplies
            hasFoot
          />
        </Fresh>
      </div>
    </>
  )
}

type OrderLinkProps = { post: CachedPost; isFromOldest: boolean }

/** Links a long list of replies to its first ones, and from there back to the newest. */
function OrderLink({ post: { id, actions }, isFromOldest }: OrderLinkProps) {
  if (!isFromOldest && actions.replies_count <= PAGE_SIZE) return null
  const path = postPath(id)
  return (
    <a
      className={classes('act', styles.order)}
      href={isFromOldest ? path : withCursor(path, FROM_OLDEST)}
    >
      {isFromOldest ? 'К новым' : 'К первым'}
    </a>
  )
}
