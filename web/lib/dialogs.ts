import { useSyncExternalStore } from 'react'

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

let open: Dialog | null = null
const listeners = new Set<() => void>()

/** Opens a dialog by name, in place of the one that is open. */
export function openDialog(dialog: Dialog): void {
  setDialog(dialog)
}

/** Closes a dialog, unless it was closed before: then another one may stand in its place. Returns whether it did. */
export function closeDialog(dialog: Dialog): boolean {
  if (open !== dialog) return false
  setDialog(null)
  return true
}

/** The open dialog, or null. */
export function useDialog(): Dialog | null {
  return useSyncExternalStore(
    subscribe,
    () => open,
    () => null,
  )
}

function setDialog(next: Dialog | null): void {
  open = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
