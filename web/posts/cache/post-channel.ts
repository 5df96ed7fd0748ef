import type { Post } from '../../../contract/posts.ts'
import { createTabChannel } from '../../platform/tabs.ts'
import { viewerId } from '../../session/viewer.ts'

/** A change of a post by the viewer that the server has confirmed. */
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

/** Calls `listener` with the viewer's changes in other tabs. Returns the unsubscribing function. */
export function onPostChange(listener: (change: PostChange) => void): () => void {
  return channel.subscribe(({ userId, change }) => {
    if (userId === viewerId()) listener(change)
  })
}
