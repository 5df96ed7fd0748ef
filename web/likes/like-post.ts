import type { QueryClient } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { holdLikes, readCachedPost, showLikes } from '../posts/cache/post-cache.ts'
import { type LikeWish, makeLikeWish } from './like-wish.ts'

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
  const hold = holdLikes(client, postId)
  const like = startWish(client, postId, { liked, confirm: hold.confirm })
  underWay.set(postId, like)
  try {
    await like.wish(liked)
  } finally {
    underWay.delete(postId)
    hold.release()
  }
}

type Start = { liked: boolean; confirm: ReturnType<typeof holdLikes>['confirm'] }

function startWish(client: QueryClient, postId: string, { liked, confirm }: Start): LikeWish {
  const post = readCachedPost(client, postId)
  // A post that no screen has read yet is liked after signing in: the server must be asked, and no count is known.
  let known = post !== undefined
  return makeLikeWish({
    confirmed: post
      ? { liked: post.actions.is_liked, count: post.actions.likes_count }
      : { liked: !liked, count: 0 },
    send: async (wished) => {
      const name = wished ? 'POST /posts/:id/likes' : 'DELETE /posts/:id/likes'
      const { likes_count } = await call(name, { params: { id: postId } })
      confirm({ is_liked: wished, likes_count })
      known = true
      return likes_count
    },
    show: (state) => {
      if (known) showLikes(client, postId, { is_liked: state.liked, likes_count: state.count })
    },
  })
}
