import type { ComponentType } from 'react'
import { createPart, type Part } from '../ui/part.ts'
import type { Dialog } from '../viewer/dialogs.ts'

type PropsOf<N> = Omit<Extract<Dialog, { name: N }>, 'name'> & { onClose: () => void }
type DialogParts = { [N in Dialog['name']]: Part<ComponentType<PropsOf<N>>> }

/** The windows by name, each fetched when it is first opened, or ahead of that. */
export const DIALOGS: DialogParts = {
  'sign-in': createPart(async () => (await import('../sign-in/sign-in-dialog.tsx')).SignInDialog),
  'new-post': createPart(
    async () => (await import('../posts/compose/new-post-dialog.tsx')).NewPostDialog,
  ),
  reply: createPart(async () => (await import('../replies/reply-dialog.tsx')).ReplyDialog),
  edit: createPart(async () => (await import('../posts/compose/edit-dialog.tsx')).EditDialog),
  delete: createPart(async () => (await import('../posts/compose/delete-dialog.tsx')).DeleteDialog),
  report: createPart(async () => (await import('../reports/report-dialog.tsx')).ReportDialog),
  session: createPart(async () => (await import('../sessions/session-dialog.tsx')).SessionDialog),
  'close-other-sessions': createPart(
    async () =>
      (await import('../sessions/close-other-sessions-dialog.tsx')).CloseOtherSessionsDialog,
  ),
  shortcuts: createPart(async () => (await import('../feed/shortcuts-dialog.tsx')).ShortcutsDialog),
}
