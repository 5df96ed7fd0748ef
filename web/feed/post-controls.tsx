import { Ellipsis } from 'lucide'
import { LikeButton } from '../likes/like-button.tsx'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { ReplyButton } from '../replies/reply-button.tsx'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Lazy, tellNotLoaded } from '../ui/lazy.tsx'
import { menu } from '../ui/listbox.tsx'
import { useMenuButton } from '../ui/use-menu-button.ts'

const LABEL = 'Ещё'

const postMenu = createLazyChunk(() => import('./post-menu.tsx'), 'PostMenu')

/** Loads the menus of posts and of the header. */
export async function preloadMenus(): Promise<void> {
  await Promise.all([menu.preload(), postMenu.preload()])
}

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

  function failToOpen(): void {
    void tellNotLoaded()
    close()
  }

  return (
    <>
      <IconButton
        {...buttonProps}
        label={LABEL}
        icon={<Icon shape={Ellipsis} size={20} />}
        aria-haspopup="menu"
      />
      {button && (
        <Lazy chunk={postMenu} loading={null} onError={failToOpen}>
          {(PostMenu) => <PostMenu post={post} label={LABEL} button={button} onClose={close} />}
        </Lazy>
      )}
    </>
  )
}
