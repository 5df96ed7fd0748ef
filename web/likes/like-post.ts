import type { QueryClient } from '@tanstack/react-query'
import { call } from '../lib/call.ts'
import { changePost, readCachedPost } from '../posts/post-cache.ts'
import { type LikeState, type LikeWish, makeLikeWish } from './like-wish.ts'

/** Wishes that the server has not agreed with yet, by post. */
const underWay = new Map<string, LikeWish>()

/**
 * Likes a post or takes the like back: shown at once on every screen, sent one request at a time. Settles when the
 * server agrees, or at once where an earlier tap is under way; throws CallError after showing again what the server
 * last confirmed.
 */
export async function likePost(client: QueryClient, postId: string, liked = true): Promise<void> {
  const earlier = underWay.get(postId)
  // The first of several quick taps hears how it ended: one refusal is told once.
  if (earlier) return void earlier.wish(liked)
  const like = startWish(client, postId, liked)
  underWay.set(postId, like)
  try {
    await like.wish(liked)
  } finally {
    underWay.delete(postId)
  }
}

function startWish(client: QueryClient, postId: string, liked: boolean): LikeWish {
  const post = readCachedPost(client, postId)
  return makeLikeWish({
    // A post that no screen has read yet is liked after signing in: the server must be asked.
    confirmed: post
      ? { liked: post.actions.is_liked, count: post.actions.likes_count }
      : { liked: !liked, count: 0 },
    send: async (wished) => {
      const name = wished ? 'POST /posts/:id/likes' : 'DELETE /posts/:id/likes'
      return (await call(name, { params: { id: postId } })).likes_count
    },
    show: (state) => showLike(client, postId, state),
  })
}

function showLike(client: QueryClient, postId: string, { liked, count }: LikeState): void {
  changePost(client, postId, (post) => ({
    ...post,
    actions: { ...post.actions, is_liked: liked, likes_count: count },
  }))
}
