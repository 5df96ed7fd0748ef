import { Ellipsis } from 'lucide'
import { LikeButton } from '../likes/like-button.tsx'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ReplyButton } from '../replies/reply-button.tsx'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { useMenuButton } from '../ui/menu.tsx'
import { PostMenu } from './post-menu.tsx'

const LABEL = 'Ещё'

export function PostActions({ post }: { post: CachedPost }) {
  return (
    <>
      <LikeButton post={post} />
      <ReplyButton post={post} />
    </>
  )
}

export function PostMenuButton({ post }: { post: CachedPost }) {
  const { button, buttonProps, close } = useMenuButton()
  return (
    <>
      <IconButton
        {...buttonProps}
        label={LABEL}
        icon={<Icon shape={Ellipsis} size={20} />}
        aria-haspopup="menu"
      />
      {button && <PostMenu post={post} label={LABEL} button={button} onClose={close} />}
    </>
  )
}
