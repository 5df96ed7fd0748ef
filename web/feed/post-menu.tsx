import { useQuery } from '@tanstack/react-query'
import {
  Ban,
  Bell,
  BellOff,
  Copy,
  Flag,
  type IconNode,
  Link,
  Pencil,
  PencilLine,
  Share,
  Trash2,
} from 'lucide'
import { postPath } from '../../contract/pages.ts'
import { receivedQuery, setMuted } from '../answers/answers.queries.ts'
import { countdown } from '../format/time.ts'
import { openDialog } from '../history/history.ts'
import { useAction } from '../http/use-action.tsx'
import { copyText, NOT_COPIED } from '../platform/copy-text.ts'
import type { CachedPost } from '../posts/cache/post-cache.ts'
import { useUnsentText } from '../posts/compose/stored-drafts.ts'
import { useEditSeconds } from '../posts/view/post-time.tsx'
import { withViewer } from '../session/intents.ts'
import { useUser } from '../session/viewer.ts'
import { Menu, type MenuItem, type MenuProps } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { useMuteItems } from './use-mute-author.ts'

type PostMenuProps = Pick<MenuProps, 'label' | 'button' | 'onClose'> & { post: CachedPost }

export function PostMenu({ post, ...menu }: PostMenuProps) {
  const user = useUser()
  const isOwner = user?.id === post.owner.id
  const secondsLeft = useEditSeconds(post)
  const unsentText = useUnsentText(`edit ${post.id}`)
  const newsItems = useNewsItems(post)
  const authorItems = useMuteItems(post.owner)
  const items = [
    ...linkItems(post),
    copyItem(Copy, {
      label: 'Скопировать текст',
      copied: 'Текст скопирован',
      read: () => post.text,
    }),
    ...(isOwner
      ? [...newsItems, ...removeItems(post, secondsLeft)]
      : [...authorItems, report(post), ...(user?.isModerator ? moderatorItems(post) : [])]),
  ]
  const hasUnsentText = unsentText !== null && unsentText !== post.text
  if (isOwner && (secondsLeft > 0 || hasUnsentText)) items.unshift(edit(post, secondsLeft))
  return <Menu role="menu" items={items} {...menu} />
}

/** Returns the item that mutes a post; none until it is known whether the owner has muted it. */
function useNewsItems({ id }: CachedPost): MenuItem[] {
  // The query is not enabled here, because the bell in the header reads it.
  const muted = useQuery({ ...receivedQuery, enabled: false }).data?.muted
  const isMuted = muted?.includes(id) ?? false
  const set = useAction({
    mutationFn: () => setMuted(id, !isMuted),
    onSuccess: () => toast({ text: isMuted ? 'Снова сообщаем об ответах' : 'Больше не сообщаем' }),
    errors: 'toast',
  })
  if (!muted) return []
  return [
    {
      label: isMuted ? 'Сообщать об этой записи' : 'Не сообщать об этой записи',
      icon: isMuted ? Bell : BellOff,
      onSelect: () => set.mutate(),
    },
  ]
}

/** Returns the item to edit a post, or to copy an edit that was not saved in time. */
function edit({ id }: CachedPost, secondsLeft: number): MenuItem {
  return {
    label: secondsLeft > 0 ? 'Изменить' : 'Несохранённая правка',
    icon: Pencil,
    note: secondsLeft > 0 ? countdown(secondsLeft) : undefined,
    onSelect: () => openDialog({ name: 'edit', postId: id }),
  }
}

/** Returns the items to delete a post and, after the edit period, to write it again. */
function removeItems({ id: postId }: CachedPost, secondsLeft: number): MenuItem[] {
  const rewrite: MenuItem = {
    label: 'Удалить и написать заново',
    icon: PencilLine,
    onSelect: () => openDialog({ name: 'delete', postId, rewrites: true }),
  }
  const remove: MenuItem = {
    label: 'Удалить',
    icon: Trash2,
    danger: true,
    onSelect: () => openDialog({ name: 'delete', postId }),
  }
  return secondsLeft > 0 ? [remove] : [rewrite, remove]
}

type Copied = { label: string; copied: string; read: () => string }

function copyItem(icon: IconNode, { label, copied, read }: Copied): MenuItem {
  async function copy(): Promise<void> {
    const isCopied = await copyText(read())
    toast({ text: isCopied ? copied : NOT_COPIED }, { about: ['link'] })
  }
  return { label, icon, onSelect: () => void copy() }
}

function report({ id }: CachedPost): MenuItem {
  return {
    label: 'Пожаловаться',
    icon: Flag,
    onSelect: () => void withViewer({ name: 'report', postId: id }),
  }
}

function moderatorItems({ id: postId }: CachedPost): MenuItem[] {
  return [
    {
      label: 'Удалить как модератор…',
      icon: Trash2,
      danger: true,
      onSelect: () => openDialog({ name: 'remove-post', postId }),
    },
    {
      label: 'Заблокировать автора…',
      icon: Ban,
      danger: true,
      onSelect: () => openDialog({ name: 'block-author', postId }),
    },
  ]
}

function linkItems({ id }: CachedPost): MenuItem[] {
  const address = () => new URL(postPath(id), location.href).href

  async function share(): Promise<void> {
    try {
      await navigator.share({ url: address() })
    } catch (error) {
      // The person dismissed the browser's share sheet.
      if (error instanceof DOMException && error.name === 'AbortError') return
      toast({ text: 'Не получилось поделиться' })
    }
  }

  const items = [
    copyItem(Link, { label: 'Скопировать ссылку', copied: 'Ссылка скопирована', read: address }),
  ]
  if ('share' in navigator) {
    items.push({ label: 'Поделиться', icon: Share, onSelect: () => void share() })
  }
  return items
}
