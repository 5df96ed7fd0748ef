import { type QueryClient, useQueryClient } from '@tanstack/react-query'
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
import { toast } from '../ui/toaster.tsx'
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

  return () => {
    // What was rendered may be a tap behind the cache.
    const liked = !readCachedPost(client, id)?.actions.is_liked
    const intent: LikeIntent = { name: 'like', postId: id, liked }
    if (viewer.state === 'authorized') void sendTap(client, { ...intent, by: viewer.user.id })
    else void withViewer(intent)
  }
}

/**
 * Resolves with false after a refusal, which a toast tells. If the session has ended, of which
 * another toast tells, the like is set after signing in.
 */
export async function sendTap(client: QueryClient, intent: LikeIntent): Promise<boolean> {
  const { postId, liked } = intent
  const tell = (text: string) => toast({ text }, { about: [`like ${postId}`] })
  try {
    await likePost(client, postId, { liked, onLimit: (error) => tell(waitMessage(error)) })
    return true
  } catch (error) {
    const status = error instanceof CallError && error.status
    if (status === 401) keepIntent(intent)
    else tell(errorMessage(error))
    if (status === 404) evictPost(client, postId)
    return false
  }
}
