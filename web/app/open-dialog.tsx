import { type ComponentType, type ReactNode, useEffect, useEffectEvent, useState } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { acceptRestored, closeDialog, type Dialog, isRestored } from '../history/history.ts'
import { createLazyChunk, type LazyChunk } from '../platform/lazy-chunk.ts'
import { isKnown, useViewer, type Viewer, viewer } from '../session/viewer.ts'
import { SignInDialog } from '../sign-in/sign-in-dialog.tsx'
import { Lazy } from '../ui/states/lazy.tsx'

const importSessionDialogs = () => import('../sessions/session-dialog.tsx')
const importModeratorDialogs = () => import('../moderation/queue/moderator-dialogs.tsx')

type PropsOf<N> = Omit<Extract<Dialog, { name: N }>, 'name'> & { onClose: () => void }
type LazyName = Exclude<Dialog['name'], 'sign-in'>
type DialogChunks = { [N in LazyName]: LazyChunk<ComponentType<PropsOf<N>>> }

const DIALOGS: DialogChunks = {
  'new-post': createLazyChunk(() => import('../posts/compose/write-dialog.tsx'), 'NewPostDialog'),
  reply: createLazyChunk(() => import('../replies/reply-dialog.tsx'), 'ReplyDialog'),
  edit: createLazyChunk(() => import('../posts/compose/edit-dialog.tsx'), 'EditDialog'),
  clarify: createLazyChunk(() => import('../posts/compose/clarify-dialog.tsx'), 'ClarifyDialog'),
  delete: createLazyChunk(() => import('../posts/compose/delete-dialog.tsx'), 'DeleteDialog'),
  report: createLazyChunk(() => import('../reports/report-dialog.tsx'), 'ReportDialog'),
  session: createLazyChunk(importSessionDialogs, 'SessionDialog'),
  'close-other-sessions': createLazyChunk(importSessionDialogs, 'CloseOtherSessionsDialog'),
  appeal: createLazyChunk(() => import('../moderation/appeals/appeal-dialog.tsx'), 'AppealDialog'),
  'block-author': createLazyChunk(importModeratorDialogs, 'BlockDialog'),
  'remove-post': createLazyChunk(importModeratorDialogs, 'RemoveDialog'),
  shortcuts: createLazyChunk(() => import('./shortcuts-dialog.tsx'), 'ShortcutsDialog'),
}

/** Who may see each dialog. */
const AUDIENCE: Record<Dialog['name'], 'all' | 'visitors' | 'users' | 'moderators'> = {
  shortcuts: 'all',
  'sign-in': 'visitors',
  'new-post': 'users',
  reply: 'users',
  edit: 'users',
  clarify: 'users',
  delete: 'users',
  report: 'users',
  session: 'users',
  'close-other-sessions': 'users',
  appeal: 'users',
  'block-author': 'moderators',
  'remove-post': 'moderators',
}

type OpenDialogProps = {
  dialog: Dialog
  loading: ReactNode
  onClose: () => void
  onError: () => void
}

export function OpenDialog({ dialog, loading, onClose, onError }: OpenDialogProps) {
  const mayShow = useMayShow(dialog, onClose)
  const { name, ...ids } = dialog
  if (!mayShow) return null
  if (name === 'sign-in') return <SignInDialog onClose={onClose} />
  const chunk = DIALOGS[name] as LazyChunk<ComponentType<{ onClose: () => void }>>
  return <Lazy chunk={chunk} loading={loading} onError={onError} props={{ ...ids, onClose }} />
}

export async function preloadDialogs({ isModerator }: CurrentUser): Promise<void> {
  for (const [name, chunk] of Object.entries(DIALOGS)) {
    if (isModerator || AUDIENCE[name as LazyName] !== 'moderators') await chunk.preload()
  }
}

/**
 * Returns whether a dialog may be shown, and closes a dialog that the viewer may not see. A
 * restored dialog waits until the viewer is known, because drafts belong to a viewer.
 */
function useMayShow(dialog: Dialog, onClose: () => void): boolean {
  const now = useViewer()
  const [openedBy, setOpenedBy] = useState<string>()
  if (openedBy === undefined && now.state === 'authorized') setOpenedBy(now.user.id)

  const check = useEffectEvent(() => {
    const known = viewer.get()
    if (maySee(known, dialog, openedBy)) return isKnown(known) && acceptRestored()
    // Signing in here reloads the page, which resumes the intent. Signing in elsewhere drops it.
    return isRestored(dialog) ? closeDialog(dialog) : onClose()
  })
  useEffect(() => {
    check()
    return viewer.subscribe(() => check())
  }, [])

  return maySee(now, dialog, openedBy) && (isKnown(now) || !isRestored(dialog))
}

function maySee(now: Viewer, dialog: Dialog, openedBy: string | undefined): boolean {
  const audience = AUDIENCE[dialog.name]
  if (audience === 'all') return true
  if (audience === 'visitors') return now.state !== 'authorized'
  switch (now.state) {
    // Another user's dialog closes. Its text is a draft, or waits.
    case 'authorized':
      return openedBy === undefined || openedBy === now.user.id
    // If the session ended by itself, the dialog stays: its user may sign in again.
    case 'signed-out':
      return !isRestored(dialog) && (openedBy === undefined || 'because' in now)
    case 'authorizing':
    case 'no-answer':
      return true
  }
}
