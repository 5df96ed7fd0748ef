import { type ComponentType, type ReactNode, useEffect } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { acceptRestored, closeDialog, type Dialog, isRestored } from '../history/history.ts'
import { createLazyChunk, type LazyChunk } from '../platform/lazy-chunk.ts'
import { useViewer } from '../session/viewer.ts'
import { SignInDialog } from '../sign-in/sign-in-dialog.tsx'
import { Lazy } from '../ui/lazy.tsx'

type PropsOf<N> = Omit<Extract<Dialog, { name: N }>, 'name'> & { onClose: () => void }
type LazyName = Exclude<Dialog['name'], 'sign-in'>
type DialogChunks = { [N in LazyName]: LazyChunk<ComponentType<PropsOf<N>>> }

const DIALOGS: DialogChunks = {
  'new-post': createLazyChunk(() => import('../posts/compose/write-dialog.tsx'), 'NewPostDialog'),
  reply: createLazyChunk(() => import('../replies/reply-dialog.tsx'), 'ReplyDialog'),
  edit: createLazyChunk(() => import('../posts/compose/edit-dialog.tsx'), 'EditDialog'),
  delete: createLazyChunk(() => import('../posts/compose/delete-dialog.tsx'), 'DeleteDialog'),
  report: createLazyChunk(() => import('../reports/report-dialog.tsx'), 'ReportDialog'),
  session: createLazyChunk(() => import('../sessions/session-dialog.tsx'), 'SessionDialog'),
  'close-other-sessions': createLazyChunk(
    () => import('../sessions/session-dialog.tsx'),
    'CloseOtherSessionsDialog',
  ),
  appeal: createLazyChunk(() => import('../moderation/appeals/appeal-dialog.tsx'), 'AppealDialog'),
  'block-author': createLazyChunk(
    () => import('../moderation/queue/block-dialog.tsx'),
    'BlockDialog',
  ),
  'remove-post': createLazyChunk(
    () => import('../moderation/queue/remove-dialog.tsx'),
    'RemoveDialog',
  ),
  shortcuts: createLazyChunk(() => import('../feed/shortcuts-dialog.tsx'), 'ShortcutsDialog'),
}

const FOR_MODERATORS = new Set<string>(['block-author', 'remove-post'] satisfies LazyName[])

type OpenDialogProps = {
  dialog: Dialog
  loading: ReactNode
  onClose: () => void
  onError: () => void
}

export function OpenDialog({ dialog, loading, onClose, onError }: OpenDialogProps) {
  const mayShow = useMayShow(dialog)
  const { name, ...ids } = dialog
  if (!mayShow) return null
  if (name === 'sign-in') return <SignInDialog onClose={onClose} />
  const chunk = DIALOGS[name] as LazyChunk<ComponentType<{ onClose: () => void }>>
  return (
    <Lazy chunk={chunk} loading={loading} onError={onError}>
      {(Content) => <Content {...ids} onClose={onClose} />}
    </Lazy>
  )
}

export async function preloadDialogs({ isModerator }: CurrentUser): Promise<void> {
  for (const [name, chunk] of Object.entries(DIALOGS)) {
    if (isModerator || !FOR_MODERATORS.has(name)) await chunk.preload()
  }
}

/**
 * A dialog that a reload or «Вперёд» brings back waits until the viewer is known, to whom drafts
 * belong, and closes if it is not for them.
 */
function useMayShow(dialog: Dialog): boolean {
  const { state } = useViewer()
  const waits = isRestored(dialog)
  const isKnown = state === 'authorized' || state === 'signed-out'
  const isFor = dialog.name === 'sign-in' ? 'signed-out' : 'authorized'
  const isForOthers = waits && isKnown && state !== isFor && dialog.name !== 'shortcuts'

  useEffect(() => {
    if (!waits || !isKnown) return
    if (isForOthers) closeDialog(dialog)
    else acceptRestored()
  }, [waits, isKnown, isForOthers, dialog])

  return !waits || (isKnown && !isForOthers)
}
