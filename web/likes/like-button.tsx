import { Heart } from 'lucide-react'
import { plural } from '../format/plural.ts'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ActionButton } from '../posts/view/action-button.tsx'
import { useToggleLike } from './use-toggle-like.ts'

const FORMS = { one: 'отметка', few: 'отметки', many: 'отметок' }

/** Likes a post and takes the like back; shows how many like it. */
export function LikeButton({ post }: { post: CachedPost }) {
  const toggle = useToggleLike(post.id)
  const { is_liked, likes_count } = post.actions
  return (
    <ActionButton
      label="Нравится"
      icon={<Heart size={20} strokeWidth={1.75} aria-hidden="true" />}
      count={likes_count}
      countInWords={`${likes_count} ${plural(likes_count, FORMS)}`}
      pressed={is_liked}
      action="like"
      onClick={() => void toggle()}
    />
  )
}
