import { Heart } from 'lucide'
import { nounAfter } from '../format/counts.ts'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ActionButton } from '../posts/view/action-button.tsx'
import { useIsWaiting, withViewer } from '../session/intents.ts'
import { useUser } from '../session/viewer.ts'
import { Icon } from '../ui/icon.tsx'
import { sendTap, shownLikes, useShownLikes } from './likes.queries.ts'

const FORMS = { one: 'отметка', few: 'отметки', many: 'отметок' }

export function LikeButton({ post }: { post: CachedPost }) {
  const { id: postId } = post
  const user = useUser()
  const waits = useIsWaiting((intent) => intent.name === 'like' && intent.postId === postId)
  const { is_liked, likes_count } = useShownLikes(post)

  function toggle(): void {
    const intent = { name: 'like', postId, liked: !shownLikes(postId)?.is_liked } as const
    if (user) void sendTap({ ...intent, by: user.id })
    else void withViewer(intent)
  }

  return (
    <ActionButton
      label="Нравится"
      about={post.owner.username}
      icon={<Icon shape={Heart} size={20} />}
      count={likes_count}
      noun={`${nounAfter(likes_count, FORMS)} «Нравится»`}
      pressed={is_liked}
      busy={waits}
      action="like"
      onClick={toggle}
    />
  )
}
