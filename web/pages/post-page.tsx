import { useMemo } from 'react'
import { useParams } from 'react-router'
import { postTitle } from '../../contract/post-title.ts'
import { errorMessage } from '../api/error-message.ts'
import { usePageTitle } from '../browser/use-page-title.ts'
import { PostActions, PostMenu } from '../feed/post-controls.tsx'
import { PostFeed } from '../feed/post-feed.tsx'
import { RepliedCard } from '../feed/replied-card.tsx'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { MISSING_POST, type ReadPost, useReadPost } from '../posts/cache/use-read-post.ts'
import { PostDetail } from '../posts/view/post-detail.tsx'
import { repliesSource } from '../replies/reply-sources.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorRow } from '../ui/error-row.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import styles from './post-page.module.css'

/** /posts/:id */
export function PostPage() {
  const { id = '' } = useParams()
  const read = useReadPost(id)
  usePageTitle(titleOf(read), 'header', tabTitleOf(read))

  if (read.state === 'loading') return <Skeleton label="Загружаем запись" />
  if (read.state === 'missing') return <EmptyState {...MISSING_POST} />
  if (read.state === 'failed') {
    return <ErrorRow text={errorMessage(read.error)} onRetry={read.retry} />
  }
  return <Thread post={read.post} />
}

function titleOf(read: ReadPost): string {
  const isReply = read.state === 'ready' && read.post.actions.replied_post_id !== null
  return isReply ? 'Ответ' : 'Запись'
}

function tabTitleOf(read: ReadPost): string {
  if (read.state === 'missing') return MISSING_POST.title
  return read.state === 'ready' ? postTitle(read.post) : 'Запись'
}

function Thread({ post }: { post: CachedPost }) {
  const source = useMemo(() => repliesSource(post.id), [post.id])
  return (
    <>
      {post.actions.replied_post_id && <RepliedCard id={post.actions.replied_post_id} />}
      <PostDetail post={post} menu={<PostMenu post={post} />}>
        <PostActions post={post} />
      </PostDetail>
      <h2 className={styles.heading}>Ответы</h2>
      <PostFeed source={source} label="Ответы" withoutQuotes />
    </>
  )
}
