import { useIsFetching } from '@tanstack/react-query'
import { type ComponentType, useCallback, useEffect } from 'react'
import { useDialog } from '../history/entry.tsx'
import {
  acceptRestored,
  closeDialog,
  type Dialog,
  isRestored,
  onLeaveLoading,
} from '../history/history.ts'
import { createLazyChunk, type LazyChunk, preload, useLazyChunk } from '../platform/lazy-chunk.ts'
import { whenIdle } from '../platform/when-idle.ts'
import { whenUsed } from '../platform/when-used.ts'
import { dropIntent, useIsWaiting } from '../session/intents.ts'
import { useViewer } from '../session/viewer.ts'
import { Spinner } from '../ui/spinner.tsx'
import { useOpenErrorToast } from '../ui/use-popup.ts'
import styles from './dialogs.module.css'
import { ErrorBoundary } from './error-boundary.tsx'
import { preloadViewerPages } from './routes.tsx'

type PropsOf<N> = Omit<Extract<Dialog, { name: N }>, 'name'> & { onClose: () => void }
type DialogChunks = { [N in Dialog['name']]: LazyChunk<ComponentType<PropsOf<N>>> }

const IDLE_MS = 2000

const DIALOGS: DialogChunks = {
  'sign-in': createLazyChunk(
    async () => (await import('../sign-in/sign-in-dialog.tsx')).SignInDialog,
  ),
  'new-post': createLazyChunk(
    async () => (await import('../posts/compose/new-post-dialog.tsx')).NewPostDialog,
  ),
  reply: createLazyChunk(async () => (await import('../replies/reply-dialog.tsx')).ReplyDialog),
  edit: createLazyChunk(async () => (await import('../posts/compose/edit-dialog.tsx')).EditDialog),
  delete: createLazyChunk(
    async () => (await import('../posts/compose/delete-dialog.tsx')).DeleteDialog,
  ),
  report: createLazyChunk(async () => (await import('../reports/report-dialog.tsx')).ReportDialog),
  session: createLazyChunk(
    async () => (await import('../sessions/session-dialog.tsx')).SessionDialog,
  ),
  'close-other-sessions': createLazyChunk(
    async () => (await import('../sessions/session-dialog.tsx')).CloseOtherSessionsDialog,
  ),
  appeal: createLazyChunk(
    async () => (await import('../moderation/appeals/appeal-dialog.tsx')).AppealDialog,
  ),
  'block-author': createLazyChunk(
    async () => (await import('../moderation/queue/block-dialog.tsx')).BlockDialog,
  ),
  shortcuts: createLazyChunk(
    async () => (await import('../feed/shortcuts-dialog.tsx')).ShortcutsDialog,
  ),
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
  const { content: Content, failed } = useLazyChunk(chunk)
  const showOpenError = useOpenErrorToast()

  const failToOpen = useCallback(() => {
    void showOpenError()
    closeDialog(dialog)
  }, [showOpenError, dialog])

  useEffect(() => {
    if (failed) failToOpen()
  }, [failed, failToOpen])

  if (failed) return null
  if (!Content) return <DialogLoading />
  return (
    <ErrorBoundary onError={failToOpen}>
      <Content {...ids} onClose={() => close(dialog)} />
    </ErrorBoundary>
  )
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
 * every dialog, the menus and their pages, when the page is idle. A visitor mostly reads, so menus
 * and signing in wait for the first sign of use: a visit that ends at a glance does not pay 25 KB
 * for them.
 */
export function PreloadChunks() {
  const { state } = useViewer()
  const isFetching = useIsFetching() > 0

  useEffect(() => {
    if (isFetching) return
    if (state === 'authorized') return whenIdle(() => void preloadForViewer(), IDLE_MS)
    if (state === 'signed-out') return whenUsed(() => void preloadForVisitor())
    return
  }, [state, isFetching])
  return null
}

/** Chunks load one after another, so that what the person opens meanwhile hardly has to wait. */
async function preloadForViewer(): Promise<void> {
  await preloadMenu()
  for (const dialog of Object.values(DIALOGS)) await dialog.preload()
  await preloadViewerPages()
}

async function preloadForVisitor(): Promise<void> {
  await Promise.all([preloadMenu(), DIALOGS['sign-in'].preload()])
}

/** The list of every menu and listbox comes with it. */
function preloadMenu(): Promise<void> {
  return preload(() => import('../feed/post-menu.tsx'))
}
