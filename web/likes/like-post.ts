import type { QueryClient } from '@tanstack/react-query'
import { call } from '../http/call.ts'
import { isShortLimit, type ShortLimit } from '../http/call-error.ts'
import { wait } from '../platform/wait.ts'
import { lockLikes, readCachedPost, setLikes } from '../posts/cache/post-cache.ts'
import { announcePostChange, type PostChange } from '../session/post-channel.ts'
import { createDesiredLike, type DesiredLike } from './desired-like.ts'

const unconfirmed = new Map<string, DesiredLike>()

/**
 * A call while an earlier one for this post is pending resolves at once, and the earlier one sends
 * the new state too: several quick taps report one refusal. Throws CallError after the rollback.
 */
export async function likePost(
  client: QueryClient,
  postId: string,
  { liked = true, onLimit }: { liked?: boolean | undefined; onLimit?: OnLimit } = {},
): Promise<void> {
  const earlier = unconfirmed.get(postId)
  if (earlier) return void earlier.set(liked)
  const lock = lockLikes(client, postId)
  const like = startLike(client, postId, { liked, confirm: lock.confirm, onLimit })
  unconfirmed.set(postId, like)
  try {
    await like.set(liked)
  } finally {
    unconfirmed.delete(postId)
    lock.unlock()
  }
}

/** A pending like of this tab is newer than what another tab has confirmed. */
export function showConfirmedLike(
  client: QueryClient,
  postId: string,
  likes: Extract<PostChange, { name: 'liked' }>['likes'],
): void {
  if (unconfirmed.has(postId)) return
  const lock = lockLikes(client, postId)
  setLikes(client, postId, likes)
  lock.unlock()
}

type OnLimit = (error: ShortLimit) => void

type FirstTap = {
  liked: boolean
  confirm: ReturnType<typeof lockLikes>['confirm']
  onLimit: OnLimit | undefined
}

function startLike(
  client: QueryClient,
  postId: string,
  { liked, confirm, onLimit }: FirstTap,
): DesiredLike {
  const post = readCachedPost(client, postId)
  // After signing in, a post may be liked before any screen has read it: its count is then unknown.
  let isCountKnown = post !== undefined
  return createDesiredLike({
    confirmed: post
      ? { liked: post.actions.is_liked, count: post.actions.likes_count }
      : { liked: !liked, count: 0 },
    send: async (desired) => {
      const name = desired ? 'POST /posts/:id/likes' : 'DELETE /posts/:id/likes'
      const { likes_count } = await call(name, { params: { id: postId } })
      const likes = { is_liked: desired, likes_count }
      confirm(likes)
      announcePostChange({ name: 'liked', postId, likes })
      isCountKnown = true
      return likes_count
    },
    show: (state) => {
      if (isCountKnown) {
        setLikes(client, postId, { is_liked: state.liked, likes_count: state.count })
      }
    },
    waitOut(error) {
      if (!isShortLimit(error)) return undefined
      onLimit?.(error)
      return wait(error.retryAfter * 1000)
    },
  })
}
