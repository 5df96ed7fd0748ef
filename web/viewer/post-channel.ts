import type { Post } from '../../contract/posts.ts'
import { viewerId } from './viewer.ts'

/** What the viewer has done to a post, once the server has confirmed it. */
export type PostChange =
  | { name: 'liked'; postId: string; likes: Pick<Post['actions'], 'is_liked' | 'likes_count'> }
  | { name: 'edited'; post: Post }
  | { name: 'deleted'; postId: string }

type Message = { userId: string; change: PostChange }

let opened: BroadcastChannel | null = null

/** Tells the other tabs of this browser what the viewer has done to a post in this one. */
export function announcePostChange(change: PostChange): void {
  const userId = viewerId()
  if (userId !== null) channel().postMessage({ userId, change } satisfies Message)
}

/**
 * Calls `listener` with what the viewer has done to a post in another tab; a tab in which somebody else is still signed in
 * is not heard. Returns the function that unsubscribes it.
 */
export function onPostChange(listener: (change: PostChange) => void): () => void {
  const hear = ({ data: { userId, change } }: MessageEvent<Message>) => {
    if (userId === viewerId()) listener(change)
  }
  channel().addEventListener('message', hear)
  return () => channel().removeEventListener('message', hear)
}

/** One object per tab: a channel does not receive its own messages, but a second one of the same tab would. */
function channel(): BroadcastChannel {
  opened ??= new BroadcastChannel('posts')
  return opened
}
