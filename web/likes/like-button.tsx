import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Heart } from 'lucide'
import { plural } from '../format/counts.ts'
import { CallError } from '../http/call-error.ts'
import { errorMessage, waitMessage } from '../http/error-message.ts'
import { evictPost } from '../posts/cache/list-cache.ts'
import { type CachedPost, readCachedPost } from '../posts/cache/post-cache.ts'
import { ActionButton } from '../posts/view/action-button.tsx'
import { type Intent, keepIntent, useIsWaiting, withViewer } from '../session/intents.ts'
import { useViewer } from '../session/viewer.ts'
import { Icon } from '../ui/icon.tsx'
import { useToast } from '../ui/toaster.tsx'
import { likePost } from './like-post.ts'

type LikeIntent = Extract<Intent, { name: 'like' }>

const FORMS = { one: 'отметка', few: 'отметки', many: 'отметок' }

export function LikeButton({ post }: { post: CachedPost }) {
  const toggleLike = useToggleLike(post.id)
  const waits = useIsWaiting((intent) => intent.name === 'like' && intent.postId === post.id)
  const { is_liked, likes_count } = post.actions
  return (
    <ActionButton
      label="Нравится"
      icon={<Icon shape={Heart} size={20} />}
      count={likes_count}
      countInWords={`${likes_count} ${plural(likes_count, FORMS)} «Нравится»`}
      pressed={is_liked}
      busy={waits}
      action="like"
      onClick={toggleLike}
    />
  )
}

function useToggleLike(id: string): () => void {
  const client = useQueryClient()
  const viewer = useViewer()
  const { mutate } = useLike()

  return () => {
    // What was rendered may be a tap behind the cache.
    const liked = !readCachedPost(client, id)?.actions.is_liked
    const intent: LikeIntent = { name: 'like', postId: id, liked }
    if (viewer.state === 'authorized') mutate({ ...intent, by: viewer.user.id })
    else void withViewer(intent)
  }
}

/** If the session has ended, which a toast of its own tells, the like is set after signing in. */
export function useLike() {
  const client = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: ({ postId, liked }: LikeIntent) =>
      likePost(client, postId, {
        liked,
        onLimit: (error) => toast({ text: waitMessage(error) }, { about: [`like ${postId}`] }),
      }),
    onError: (error, intent) => {
      const status = error instanceof CallError && error.status
      if (status === 401) return keepIntent(intent)
      toast({ text: errorMessage(error) }, { about: [`like ${intent.postId}`] })
      if (status === 404) evictPost(client, intent.postId)
    },
  })
}
