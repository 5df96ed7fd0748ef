import type { Post } from '../../../contract/posts.ts'
import { queryClient } from '../../http/query-client.ts'
import { serverNow } from '../../http/server-clock.ts'
import {
  allCached,
  type CachedPost,
  nextVersion,
  putPosts,
  readCachedPost,
  setMissing,
} from '../../posts/cache/post-cache.ts'
import { type Act, DAY_SECONDS } from './queue.queries.ts'

/** Returns the cached posts that an act removes. */
export function postsRemovedBy({ postId, verdict, blocked }: Act): Post[] {
  const since = serverNow() - DAY_SECONDS
  return allCached(queryClient)
    .filter(({ id, owner, created_at }) => {
      const isOfDay = blocked?.removesRecent && owner.id === blocked.authorId && created_at > since
      return isOfDay || (verdict === 'remove' && id === postId)
    })
    .map(withQuote)
}

/** Puts the replied post back, which has its own cache entry. */
function withQuote(post: CachedPost): Post {
  const { replied_post_id: id } = post.actions
  const replied_post = (id && readCachedPost(queryClient, id)) || null
  return { ...post, actions: { ...post.actions, replied_post } }
}

/** Lists leave out missing posts. */
export function hideOnWall(posts: readonly Post[]): void {
  for (const { id } of posts) setMissing(queryClient, id, nextVersion())
}

export function showOnWall(posts: readonly Post[]): void {
  putPosts(queryClient, posts)
}
