import { LikeButton } from '../likes/like-button.tsx'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ReplyButton } from '../replies/reply-button.tsx'

/** What can be done with any post: like it and answer it. */
export function PostActions({ post }: { post: CachedPost }) {
  return (
    <>
      <LikeButton post={post} />
      <ReplyButton post={post} />
    </>
  )
}
