import { MessageCircle } from 'lucide'
import { plural, REPLY_FORMS } from '../format/counts.ts'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ActionButton } from '../posts/view/action-button.tsx'
import { withViewer } from '../session/intents.ts'
import { Icon } from '../ui/icon.tsx'

export function ReplyButton({ post }: { post: CachedPost }) {
  const count = post.actions.replies_count
  return (
    <ActionButton
      label="Ответить"
      about={post.owner.username}
      icon={<Icon shape={MessageCircle} size={20} />}
      count={count}
      countInWords={`${count} ${plural(count, REPLY_FORMS)}`}
      action="reply"
      onClick={() => void withViewer({ name: 'reply', postId: post.id })}
    />
  )
}
