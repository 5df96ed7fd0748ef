import { createAtom, useAtom } from '../browser/atom.ts'

export type Dialog =
  | { name: 'sign-in' }
  | { name: 'new-post' }
  | { name: 'reply'; postId: string }
  | { name: 'edit'; postId: string }
  | { name: 'delete'; postId: string }
  | { name: 'report'; postId: string }
  | { name: 'session'; sessionId: string }
  | { name: 'close-other-sessions' }
  | { name: 'shortcuts' }

const open = createAtom<Dialog | null>(null)

/** Opens a dialog by name, in place of the one that is open. */
export function openDialog(dialog: Dialog): void {
  open.set(dialog)
}

/** Closes `dialog` if it is still the open one; another may have replaced it. Returns whether it was. */
export function closeDialog(dialog: Dialog): boolean {
  if (open.get() !== dialog) return false
  open.set(null)
  return true
}

/** The open dialog, or null. */
export function useDialog(): Dialog | null {
  return useAtom(open, null)
}
