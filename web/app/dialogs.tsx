import { type ComponentType, useCallback, useEffect } from 'react'
import { saveSignInClosed } from '../sign-in/saved-sign-in.ts'
import type { Part } from '../ui/part.ts'
import { useOpenFailure } from '../ui/use-open-failure.ts'
import { usePart } from '../ui/use-part.ts'
import { closeDialog, type Dialog, useDialog } from '../viewer/dialogs.ts'
import { dropIntent } from '../viewer/intents.ts'
import { DialogBoundary } from './dialog-boundary.tsx'
import { DialogLoading } from './dialog-loading.tsx'
import { DIALOGS } from './dialog-parts.ts'

/** Shows the open dialog, fetched when it is first asked for. */
export function Dialogs() {
  const dialog = useDialog()
  return dialog && <OpenDialog key={JSON.stringify(dialog)} dialog={dialog} />
}

function OpenDialog({ dialog }: { dialog: Dialog }) {
  const { name, ...ids } = dialog
  const part = DIALOGS[name] as Part<ComponentType<{ onClose: () => void }>>
  const { content: Content, failed } = usePart(part)
  const sayWhy = useOpenFailure()

  const giveUp = useCallback(() => {
    void sayWhy()
    closeDialog(dialog)
  }, [sayWhy, dialog])

  useEffect(() => {
    if (failed) giveUp()
  }, [failed, giveUp])

  if (failed) return null
  if (!Content) return <DialogLoading />
  return (
    <DialogBoundary onBroken={giveUp}>
      <Content {...ids} onClose={() => close(dialog)} />
    </DialogBoundary>
  )
}

function close(dialog: Dialog): void {
  if (closeDialog(dialog) && dialog.name === 'sign-in') {
    saveSignInClosed(Date.now())
    dropIntent()
  }
}
