import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Heart } from 'lucide'
import { CallError } from '../api/call-error.ts'
import { errorMessage } from '../api/error-message.ts'
import { plural } from '../format/counts.ts'
import { evictPost } from '../posts/cache/list-cache.ts'
import { type CachedPost, readCachedPost } from '../posts/cache/post-cache.ts'
import { ActionButton } from '../posts/view/action-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { useToast } from '../ui/toaster.tsx'
import { withViewer } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'
import { likePost } from './like-post.ts'

const FORMS = { one: 'отметка', few: 'отметки', many: 'отметок' }

/** Likes a post and takes the like back; shows how many people like it. */
export function LikeButton({ post }: { post: CachedPost }) {
  const toggleLike = useToggleLike(post.id)
  const { is_liked, likes_count } = post.actions
  return (
    <ActionButton
      label="Нравится"
      icon={<Icon shape={Heart} size={20} />}
      count={likes_count}
      countInWords={`${likes_count} ${plural(likes_count, FORMS)} «Нравится»`}
      pressed={is_liked}
      action="like"
      onClick={toggleLike}
    />
  )
}

/** What a tap does: likes the post or takes the like back; a visitor is asked to sign in first. */
function useToggleLike(id: string): () => void {
  const client = useQueryClient()
  const viewer = useViewer()
  const toast = useToast()
  const { mutate } = useMutation({
    // Reads the cache, because what was rendered may be a tap behind.
    mutationFn: () => likePost(client, id, !readCachedPost(client, id)?.actions.is_liked),
    onError: (error) => {
      toast({ text: errorMessage(error) })
      if (error instanceof CallError && error.status === 404) evictPost(client, id)
    },
  })

  return () => {
    if (viewer.state === 'authorized') mutate()
    else void withViewer({ name: 'like', postId: id })
  }
}
