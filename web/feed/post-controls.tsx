import { memo, type ReactNode } from 'react'
import { LikeButton } from '../likes/like-button.tsx'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import { type CachedPost, usePost } from '../posts/cache/post-cache.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import { ReplyButton } from '../replies/reply-button.tsx'
import { MenuButton, menu } from '../ui/overlay/menu-button.tsx'

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
