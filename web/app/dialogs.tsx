import {
  closeDialog,
  type Dialog,
  isRestored,
  openDialog,
  openedDialog,
} from '../history/history.ts'
import { useAtom } from '../platform/atom.ts'
import { createLazyChunk } from '../platform/lazy-chunk.ts'
import { dropIntent, useIsWaiting } from '../session/intents.ts'
import { viewer } from '../session/viewer.ts'
import { Lazy } from '../ui/states/lazy.tsx'
import { Spinner } from '../ui/states/spinner.tsx'
import styles from './dialogs.module.css'

const dialogs = createLazyChunk(() => import('./open-dialog.tsx'), 'OpenDialog')

/** Loads the chunk that opens dialogs, which contains the sign-in dialog. */
export const preloadSignIn = dialogs.preload

export function Dialogs() {
  const dialog = useAtom(openedDialog, null)
  const waits = useIsWaiting((intent) => intent.name !== 'like')
  if (!dialog) return waits && <DialogLoading />

  const props = {
    dialog,
    loading: <DialogLoading />,
    onClose: () => closeOpened(dialog),
    onError: () => closeDialog(dialog),
  }
  return (
    <Lazy
      key={JSON.stringify(dialog)}
      chunk={dialogs}
      loading={!isRestored(dialog) && props.loading}
      onError={props.onError}
      props={props}
    />
  )
}

export function closeOpened(dialog: Dialog): void {
  if (!closeDialog(dialog) || dialog.name !== 'sign-in') return
  dropIntent()
  const { over } = dialog
  // Deferred, because «Назад» first goes to the page below.
  if (over && 'because' in viewer.get()) queueMicrotask(() => openDialog(over))
}

function DialogLoading() {
  return (
    <div className={styles.loading} data-loading>
      <div className={styles.tile}>
        <Spinner label="Открываем окно" />
      </div>
    </div>
  )
}
