import { Flag, Pencil, Trash2 } from 'lucide-react'
import { countdown } from '../format/time.ts'
import { LikeButton } from '../likes/like-button.tsx'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { useUnsentText } from '../posts/compose/drafts.ts'
import { useEditSeconds } from '../posts/view/post-time.tsx'
import { ReplyButton } from '../replies/reply-button.tsx'
import type { MenuItem } from '../ui/menu.tsx'
import { MenuButton } from '../ui/menu-button.tsx'
import { openDialog } from '../viewer/dialogs.ts'
import { withViewer } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'
import { useLinkItems } from './link-items.tsx'

const LABEL = 'Ещё'

/** The actions below every post: like and reply. */
export function PostActions({ post }: { post: CachedPost }) {
  return (
    <>
      <LikeButton post={post} />
      <ReplyButton post={post} />
    </>
  )
}

/** The menu of a post: everybody passes its link on, its owner edits and deletes it, everybody else may report it. */
export function PostMenu({ post }: { post: CachedPost }) {
  const viewer = useViewer()
  const linkItems = useLinkItems(post)
  const isOwner = viewer.state === 'authorized' && viewer.user.id === post.owner.id
  if (isOwner) return <OwnPostMenu post={post} linkItems={linkItems} />
  return <MenuButton label={LABEL} items={[...linkItems, report(post)]} />
}

/** A component of its own, so that only the viewer's own posts follow the clock every second. */
function OwnPostMenu({ post, linkItems }: { post: CachedPost; linkItems: MenuItem[] }) {
  const secondsLeft = useEditSeconds(post)
  const unsentText = useUnsentText(`edit ${post.id}`)
  const items = [...linkItems, remove(post)]
  if (secondsLeft > 0) items.unshift(edit(post, secondsLeft))
  else if (unsentText !== null && unsentText !== post.text) items.unshift(openUnsentText(post))
  return <MenuButton label={LABEL} items={items} />
}

function edit({ id }: CachedPost, secondsLeft: number): MenuItem {
  return {
    label: 'Изменить',
    icon: <Pencil size={18} aria-hidden="true" />,
    note: countdown(secondsLeft),
    onSelect: () => openDialog({ name: 'edit', postId: id }),
  }
}

/** Opens an edit that was not saved before its period ended: its dialog lets the text be copied or sent as a reply. */
function openUnsentText({ id }: CachedPost): MenuItem {
  return {
    label: 'Несохранённая правка',
    icon: <Pencil size={18} aria-hidden="true" />,
    onSelect: () => openDialog({ name: 'edit', postId: id }),
  }
}

function remove({ id }: CachedPost): MenuItem {
  return {
    label: 'Удалить',
    icon: <Trash2 size={18} aria-hidden="true" />,
    danger: true,
    onSelect: () => openDialog({ name: 'delete', postId: id }),
  }
}

function report({ id }: CachedPost): MenuItem {
  return {
    label: 'Пожаловаться',
    icon: <Flag size={18} aria-hidden="true" />,
    onSelect: () => void withViewer({ name: 'report', postId: id }),
  }
}
