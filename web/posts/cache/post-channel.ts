import type { Post } from '../../../contract/posts.ts'
import { createTabChannel } from '../../platform/tab-channel.ts'
import { viewerId } from '../../session/viewer.ts'

/** What the viewer has done to a post, once the server has confirmed it. */
export type PostChange =
  | { name: 'liked'; postId: string; likes: Pick<Post['actions'], 'is_liked' | 'likes_count'> }
  | { name: 'edited'; post: Post }
  | { name: 'deleted'; postId: string }

type Message = { userId: string; change: PostChange }

const channel = createTabChannel<Message>('posts')

export function announcePostChange(change: PostChange): void {
  const userId = viewerId()
  if (userId !== null) channel.post({ userId, change })
}

/** Ignores a tab in which somebody else is still signed in. Returns how to unsubscribe. */
export function onPostChange(listener: (change: PostChange) => void): () => void {
  return channel.subscribe(({ userId, change }) => {
    if (userId === viewerId()) listener(change)
  })
}
