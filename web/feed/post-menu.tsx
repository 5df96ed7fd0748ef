import { Flag, Pencil, Trash2 } from 'lucide-react'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { useKeptText } from '../posts/compose/use-draft.ts'
import { countdown, useEditSeconds } from '../posts/compose/use-edit-seconds.ts'
import type { MenuItem } from '../ui/menu.tsx'
import { MenuButton } from '../ui/menu-button.tsx'
import { openDialog } from '../viewer/dialogs.ts'
import { withViewer } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'

const LABEL = 'Ещё'

/** The menu of a post: its owner changes and deletes it, everybody else may report it. */
export function PostMenu({ post }: { post: CachedPost }) {
  const viewer = useViewer()
  const isOwner = viewer.state === 'authorized' && viewer.user.id === post.owner.id
  return isOwner ? <OwnPostMenu post={post} /> : <MenuButton label={LABEL} items={[report(post)]} />
}

/** Apart, so that only one's own posts follow the clock every second. */
function OwnPostMenu({ post }: { post: CachedPost }) {
  const secondsLeft = useEditSeconds(post)
  const kept = useKeptText(`edit ${post.id}`)
  const items = [remove(post)]
  if (secondsLeft > 0) items.unshift(edit(post, secondsLeft))
  else if (kept !== null && kept !== post.text) items.unshift(rescue(post))
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

/** Leads to a changed text that nobody saved in time: the dialog says so, and lets it be copied or sent as a reply. */
function rescue({ id }: CachedPost): MenuItem {
  return {
    label: 'Несохранённый текст',
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
