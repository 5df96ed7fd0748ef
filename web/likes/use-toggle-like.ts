import { useQueryClient } from '@tanstack/react-query'
import { CallError } from '../api/call.ts'
import { errorMessage } from '../api/error-message.ts'
import { readCachedPost } from '../posts/cache/post-cache.ts'
import { forgetPost } from '../posts/compose/delete-post.ts'
import { useToast } from '../ui/toaster.tsx'
import { withViewer } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'
import { likePost } from './like-post.ts'

/** What a tap on the like button does: likes, takes the like back, or, for a visitor, asks to sign in first. */
export function useToggleLike(id: string): () => Promise<void> {
  const client = useQueryClient()
  const viewer = useViewer()
  const toast = useToast()

  return async () => {
    if (viewer.state !== 'authorized') return withViewer({ name: 'like', postId: id })
    // Read now: the render may be a tap behind.
    const liked = readCachedPost(client, id)?.actions.is_liked ?? false
    try {
      await likePost(client, id, !liked)
    } catch (error) {
      toast({ text: errorMessage(error) })
      if (error instanceof CallError && error.status === 404) forgetPost(client, id)
    }
  }
}
