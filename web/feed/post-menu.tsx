import { useQuery } from '@tanstack/react-query'
import {
  Ban,
  Bell,
  BellOff,
  Copy,
  Flag,
  type IconNode,
  Link,
  MessageSquarePlus,
  MessageSquareX,
  Pencil,
  PencilLine,
  Share,
  Trash2,
} from 'lucide'
import { postPath } from '../../contract/pages.ts'
import { clarifiedText } from '../../contract/post-rules.ts'
import { receivedQuery, setMuted } from '../answers/answers.queries.ts'
import { countdown } from '../format/time.ts'
import { type Dialog, openDialog } from '../history/history.ts'
import { copyText, NOT_COPIED } from '../platform/copy-text.ts'
import { type CachedPost, usePost } from '../posts/cache/post-cache.ts'
import { removeClarification } from '../posts/compose/compose.queries.ts'
import { useDraftText } from '../posts/compose/stored-texts.ts'
import { useClarifySeconds, useEditSeconds } from '../posts/view/post-time.tsx'
import { withViewer } from '../session/intents.ts'
import { useAction } from '../session/use-action.tsx'
import { useUser } from '../session/viewer.ts'
import { Menu, type MenuItem, type MenuProps } from '../ui/overlay/menu.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { useMuteItems } from './use-mute-author.ts'

const DANGER = { danger: true }

type PostMenuProps = Pick<MenuProps, 'label' | 'button' | 'onClose'> & { post: CachedPost }

export function PostMenu({ post, ...menu }: PostMenuProps) {
  const user = useUser()
  const isOwner = user?.id === post.owner.id
  const secondsLeft = useEditSeconds(post)
  const unsentText = useDraftText(`edit ${post.id}`)
  const newsItems = useNewsItems(post)
  const authorItems = useMuteItems(post.owner)
  const clarifyItems = useClarifyItems(post)
  const { text } = post
  const clarification = usePost(post.clarification?.id ?? '')
  const copied = clarification ? clarifiedText({ text, clarification }) : text
  const mayEdit = secondsLeft > 0 || (unsentText !== null && unsentText !== post.text)
  const items = [
    ...(isOwner && mayEdit ? [edit(post, secondsLeft)] : []),
    ...(isOwner && secondsLeft === 0 ? [...clarifyItems, rewrite(post)] : []),
    ...linkItems(post),
    copyItem(Copy, 'Скопировать текст', 'Текст скопирован', () => copied),
    ...(isOwner
      ? [...newsItems, remove(post)]
      : [...authorItems, report(post), ...(user?.isModerator ? moderatorItems(post) : [])]),
  ]
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
      label: isMuted ? 'Сообщать об ответах' : 'Не сообщать об ответах',
      icon: isMuted ? Bell : BellOff,
      onSelect: () => set.mutate(),
    },
  ]
}

/** Returns the item to edit a post, or to copy an edit that was not saved in time. */
function edit({ id: postId }: CachedPost, secondsLeft: number): MenuItem {
  const dialog = { name: 'edit', postId } as const
  if (secondsLeft === 0) return dialogItem(Pencil, 'Несохранённая правка', dialog)
  return dialogItem(Pencil, 'Изменить', dialog, { note: countdown(secondsLeft) })
}

/** Returns the items that replace `edit` after the edit period; none for a clarification itself. */
function useClarifyItems(post: CachedPost): MenuItem[] {
  const { id: postId, clarification, actions } = post
  const replied = usePost(actions.replied_post_id ?? '')
  const secondsLeft = useClarifySeconds(post)
  const takeAway = useAction({
    mutationFn: () => removeClarification(postId),
    onSuccess: () => toast({ text: 'Уточнение осталось среди ответов' }),
    errors: 'toast',
  })
  if (replied?.clarification?.id === postId) return []
  const dialog = { name: 'clarify', postId } as const
  if (!clarification) return [dialogItem(MessageSquarePlus, 'Уточнить', dialog)]
  const note = secondsLeft > 0 ? { note: `через ${countdown(secondsLeft)}` } : {}
  return [
    dialogItem(MessageSquarePlus, 'Заменить уточнение', dialog, note),
    { icon: MessageSquareX, label: 'Убрать уточнение', onSelect: () => takeAway.mutate() },
  ]
}

/** Returns the item that replaces `edit` after the edit period. Its dialog says what it deletes. */
function rewrite({ id: postId }: CachedPost): MenuItem {
  return dialogItem(PencilLine, 'Написать заново', { name: 'delete', postId, rewrites: true })
}

function remove({ id: postId }: CachedPost): MenuItem {
  return dialogItem(Trash2, 'Удалить', { name: 'delete', postId }, DANGER)
}

function moderatorItems({ id: postId }: CachedPost): MenuItem[] {
  return [
    dialogItem(Trash2, 'Удалить как модератор…', { name: 'remove-post', postId }, DANGER),
    dialogItem(Ban, 'Заблокировать автора…', { name: 'block-author', postId }, DANGER),
  ]
}

function dialogItem(
  icon: IconNode,
  label: string,
  dialog: Dialog,
  look: Pick<MenuItem, 'note' | 'danger'> = {},
): MenuItem {
  return { icon, label, ...look, onSelect: () => openDialog(dialog) }
}

function copyItem(icon: IconNode, label: string, copied: string, read: () => string): MenuItem {
  async function copy(): Promise<void> {
    const isCopied = await copyText(read())
    toast({ text: isCopied ? copied : NOT_COPIED })
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

  const copy = copyItem(Link, 'Скопировать ссылку', 'Ссылка скопирована', address)
  if (!('share' in navigator)) return [copy]
  return [copy, { label: 'Поделиться', icon: Share, onSelect: () => void share() }]
}
