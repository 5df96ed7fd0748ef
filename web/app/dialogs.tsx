import { type ComponentType, lazy, Suspense, useMemo } from 'react'
import { closeDialog, type Dialog, useDialog } from '../lib/dialogs.ts'
import { dropIntent } from '../lib/intent.ts'
import { keepSignInClosed } from '../sign-in/kept-sign-in.ts'
import { useToast } from '../ui/toaster.tsx'
import { DialogBoundary } from './dialog-boundary.tsx'

type Named<N> = Extract<Dialog, { name: N }>
type PropsOf<N> = Omit<Named<N>, 'name'> & { onClose: () => void }
type Loaders = { [N in Dialog['name']]: () => Promise<ComponentType<PropsOf<N>>> }

const LOADERS: Loaders = {
  'sign-in': async () => (await import('../sign-in/sign-in-dialog.tsx')).SignInDialog,
  'new-post': async () => (await import('../posts/new-post-dialog.tsx')).NewPostDialog,
  reply: async () => (await import('../replies/reply-dialog.tsx')).ReplyDialog,
  edit: async () => (await import('../posts/edit-dialog.tsx')).EditDialog,
  delete: async () => (await import('../posts/delete-dialog.tsx')).DeleteDialog,
  report: async () => (await import('../reports/report-dialog.tsx')).ReportDialog,
  session: async () => (await import('../sessions/session-dialog.tsx')).SessionDialog,
  'close-other-sessions': async () =>
    (await import('../sessions/close-other-sessions-dialog.tsx')).CloseOtherSessionsDialog,
  shortcuts: async () => (await import('../feed/shortcuts-dialog.tsx')).ShortcutsDialog,
}

/** Shows the open dialog, fetched when it is first asked for. */
export function Dialogs() {
  const dialog = useDialog()
  return dialog && <OpenDialog key={JSON.stringify(dialog)} dialog={dialog} />
}

function OpenDialog({ dialog }: { dialog: Dialog }) {
  const toast = useToast()
  const { name, ...ids } = dialog
  // Made anew each time it opens: lazy() would remember a failed download for ever.
  const Content = useMemo(
    () =>
      lazy(async () => ({
        default: (await LOADERS[name]()) as ComponentType<{ onClose: () => void }>,
      })),
    [name],
  )

  function giveUp(): void {
    toast({ text: 'Не удалось открыть окно. Проверьте интернет и повторите' })
    closeDialog()
  }

  return (
    <DialogBoundary onBroken={giveUp}>
      <Suspense>
        <Content {...ids} onClose={() => close(dialog)} />
      </Suspense>
    </DialogBoundary>
  )
}

function close({ name }: Dialog): void {
  if (name === 'sign-in') {
    keepSignInClosed(Date.now())
    dropIntent()
  }
  closeDialog()
}
