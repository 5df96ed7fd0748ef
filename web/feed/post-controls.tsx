import { Ellipsis } from 'lucide'
import { LikeButton } from '../likes/like-button.tsx'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ReplyButton } from '../replies/reply-button.tsx'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { usePopup } from '../ui/use-popup.ts'

const LABEL = 'Ещё'
const OPEN_KEYS = ['ArrowDown']
const loadMenu = () => import('./post-menu.tsx')

export function PostActions({ post }: { post: CachedPost }) {
  return (
    <>
      <LikeButton post={post} />
      <ReplyButton post={post} />
    </>
  )
}

export function PostMenuButton({ post }: { post: CachedPost }) {
  const popup = usePopup(loadMenu, OPEN_KEYS)
  const PostMenu = popup.content?.PostMenu

  return (
    <>
      <IconButton
        {...popup.buttonProps}
        label={LABEL}
        icon={<Icon shape={Ellipsis} size={20} />}
        aria-haspopup="menu"
      />
      {PostMenu && popup.anchor.current && (
        <PostMenu post={post} label={LABEL} anchor={popup.anchor.current} onClose={popup.close} />
      )}
    </>
  )
}
