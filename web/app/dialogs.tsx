import { useIsFetching } from '@tanstack/react-query'
import { type ComponentType, useEffect } from 'react'
import { useDialog } from '../history/entry.tsx'
import {
  acceptRestored,
  closeDialog,
  type Dialog,
  isRestored,
  onLeaveLoading,
} from '../history/history.ts'
import { canReload, createLazyChunk, type LazyChunk } from '../platform/lazy-chunk.ts'
import { whenIdle, whenUsed } from '../platform/timing.ts'
import { dropIntent, useIsWaiting } from '../session/intents.ts'
import { useViewer } from '../session/viewer.ts'
import { Lazy } from '../ui/lazy.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { toast } from '../ui/toaster.tsx'
import styles from './dialogs.module.css'
import { preloadViewerPages } from './routes.tsx'
import { outboxRow } from './shell/connection-banner.tsx'

type PropsOf<N> = Omit<Extract<Dialog, { name: N }>, 'name'> & { onClose: () => void }
type DialogChunks = { [N in Dialog['name']]: LazyChunk<ComponentType<PropsOf<N>>> }

const IDLE_MS = 2000

const DIALOGS: DialogChunks = {
  'sign-in': createLazyChunk(() => import('../sign-in/sign-in-dialog.tsx'), 'SignInDialog'),
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
  shortcuts: createLazyChunk(() => import('../feed/shortcuts-dialog.tsx'), 'ShortcutsDialog'),
}

/** The pointer or the focus is on the button that opens the dialog. */
export function preloadSignIn(): void {
  void DIALOGS['sign-in'].preload()
}

export function Dialogs() {
  const dialog = useDialog()
  const waits = useIsWaiting((intent) => intent.name !== 'like')
  const mayShow = useMayShow(dialog)
  useEffect(() => onLeaveLoading(close), [])
  // Another release may have known other dialogs.
  if (!dialog || !Object.hasOwn(DIALOGS, dialog.name)) return waits && <DialogLoading />
  if (!mayShow) return null
  return <OpenDialog key={JSON.stringify(dialog)} dialog={dialog} />
}

/**
 * A dialog that a reload or «Вперёд» brings back waits until the viewer is known, to whom drafts
 * belong, and closes if it is not for them.
 */
function useMayShow(dialog: Dialog | null): boolean {
  const { state } = useViewer()
  const waits = dialog !== null && isRestored(dialog)
  const isKnown = state === 'authorized' || state === 'signed-out'
  const isFor = dialog?.name === 'sign-in' ? 'signed-out' : 'authorized'
  const isForAll = dialog?.name === 'shortcuts'
  const isForOthers = waits && isKnown && state !== isFor && !isForAll

  useEffect(() => {
    if (!waits || !isKnown) return
    if (isForOthers) closeDialog(dialog)
    else acceptRestored()
  }, [waits, isKnown, isForOthers, dialog])

  return !waits || (isKnown && !isForOthers)
}

function OpenDialog({ dialog }: { dialog: Dialog }) {
  const { name, ...ids } = dialog
  const chunk = DIALOGS[name] as LazyChunk<ComponentType<{ onClose: () => void }>>

  function failToOpen(): void {
    void tellOpenError()
    closeDialog(dialog)
  }

  return (
    <Lazy chunk={chunk} loading={<DialogLoading />} onError={failToOpen}>
      {(Content) => <Content {...ids} onClose={() => close(dialog)} />}
    </Lazy>
  )
}

/**
 * If the server answers although a chunk could not be loaded, the network is not to blame: a
 * release removed the chunk, or the browser remembers the failure. Then a reload is offered.
 */
async function tellOpenError(): Promise<void> {
  if (await canReload()) {
    const link = { label: 'Обновить страницу', onSelect: () => location.reload() }
    toast({ text: 'Не получилось загрузить', link })
  } else {
    toast({ text: 'Не получилось загрузить. Проверьте связь и нажмите ещё раз' })
  }
}

function close(dialog: Dialog): void {
  if (closeDialog(dialog) && dialog.name === 'sign-in') dropIntent()
}

function DialogLoading() {
  return (
    <div className={styles.loading}>
      <div className={styles.tile}>
        <Spinner label="Открываем окно" />
      </div>
    </div>
  )
}

/**
 * Preloads what the next taps may need, so that it opens at once, offline too: for signed-in users
 * every dialog and their pages, when the page is idle. A visitor mostly reads, so signing in waits
 * for the first sign of use: a visit that ends at a glance does not pay 10 KB for it.
 */
export function PreloadChunks() {
  const { state } = useViewer()
  const isFetching = useIsFetching() > 0

  useEffect(() => {
    if (isFetching) return
    if (state === 'authorized') return whenIdle(() => void preloadForViewer(), IDLE_MS)
    if (state === 'signed-out') return whenUsed(preloadSignIn)
    return
  }, [state, isFetching])
  return null
}

/** Chunks load one after another, so that what the person opens meanwhile hardly has to wait. */
async function preloadForViewer(): Promise<void> {
  for (const chunk of [outboxRow, ...Object.values(DIALOGS)]) await chunk.preload()
  await preloadViewerPages()
}
