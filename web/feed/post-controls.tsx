import { MessageCircle } from 'lucide'
import { memo, type ReactNode } from 'react'
import { nounAfter, REPLY_FORMS } from '../format/counts.ts'
import { LikeButton } from '../likes/like-button.tsx'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import { type CachedPost, usePost } from '../posts/cache/post-cache.ts'
import { ActionButton } from '../posts/view/action-button.tsx'
import { PostCard } from '../posts/view/post-card.tsx'
import { withViewer } from '../session/intents.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton, menu } from '../ui/overlay/menu-button.tsx'
import { useReadAhead } from './use-read-ahead.ts'

const postMenu = createLazyChunk(() => import('./post-menu.tsx'), 'PostMenu')

export async function preloadMenus(): Promise<void> {
  await Promise.all([menu.preload(), postMenu.preload()])
}

export function PostActions({ post }: { post: CachedPost }) {
  return (
    <>
      <LikeButton post={post} />
      <ReplyButton post={post} />
    </>
  )
}

function ReplyButton({ post }: { post: CachedPost }) {
  const count = post.actions.replies_count
  return (
    <ActionButton
      label="Ответить"
      about={post.owner.username}
      icon={<Icon shape={MessageCircle} size={20} />}
      count={count}
      noun={nounAfter(count, REPLY_FORMS)}
      action="reply"
      onClick={() => void withViewer({ name: 'reply', postId: post.id })}
    />
  )
}

export function PostMenuButton({ post }: { post: CachedPost }) {
  return <MenuButton about={post.owner.username} chunk={postMenu} props={{ post }} />
}

export type FeedCardProps = {
  id: string
  /** The ids of all posts on the same page of the list. */
  ids: readonly string[]
  position: number | undefined
  setSize: number | undefined
  withoutQuote: boolean
}

type FeedPostProps = Pick<FeedCardProps, 'id'> &
  Partial<FeedCardProps> & { above?: ReactNode; replyBelow?: string }

export const FeedPost = memo(function FeedPost({ id, ids: _, ...props }: FeedPostProps) {
  const post = usePost(id)
  const pointer = useReadAhead(id)
  if (!post) return null
  return (
    <PostCard {...props} post={post} pointer={pointer} menu={<PostMenuButton post={post} />}>
      <PostActions post={post} />
    </PostCard>
  )
})
