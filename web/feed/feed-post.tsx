import { memo } from 'react'
import { usePost } from '../posts/cache/post-cache.ts'
import { PostCard } from '../posts/view/post-card.tsx'
import { PostActions } from './post-actions.tsx'
import { PostMenu } from './post-menu.tsx'

type FeedPostProps = { id: string; position: number; setSize: number; withoutQuote: boolean }

/** One post of a feed, with its menu and its actions; nothing for one that was deleted meanwhile. */
export const FeedPost = memo(function FeedPost({ id, ...place }: FeedPostProps) {
  const post = usePost(id)
  if (!post) return null
  return (
    <PostCard {...place} post={post} menu={<PostMenu post={post} />}>
      <PostActions post={post} />
    </PostCard>
  )
})
