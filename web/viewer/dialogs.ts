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
  | { name: 'appeal'; postId: string }
  | { name: 'block-author'; postId: string }
  | { name: 'shortcuts' }

const open = createAtom<Dialog | null>(null)

/**
 * The step back that is under way: the dialog that closes with it, or null after a reload, and what waits for it. Until then
 * the dialog stays open, because a link that is followed meanwhile would be undone.
 */
let stepBack: { dialog: Dialog | null; actions: (() => void)[] } | null = null

/** Opens a dialog by name, in place of the one that is open. */
export function openDialog(dialog: Dialog): void {
  open.set(dialog)
  matchHistory()
}

/**
 * Closes `dialog` if it is still the open one; another may have replaced it. Its entry leaves the history first, so it
 * closes a moment later. Returns whether it closes because of this call.
 */
export function closeDialog(dialog: Dialog): boolean {
  if (open.get() !== dialog || stepBack?.dialog === dialog) return false
  if (hasEntry()) goBack(dialog)
  else open.set(null)
  return true
}

/** Runs `action`, which opens another page, as soon as the open dialog, if there is one, has closed as by Escape. */
export function leaveDialog(action: () => void): void {
  const dialog = open.get()
  const shown = document.querySelector('dialog[open]')
  if (shown) shown.dispatchEvent(new Event('cancel', { cancelable: true }))
  else if (dialog) closeDialog(dialog)
  whenDialogIsClosed(action)
}

/** Runs `action`, which opens a page or a dialog, as soon as no closed dialog has an entry in the history. */
export function whenDialogIsClosed(action: () => void): void {
  if (stepBack) stepBack.actions.push(action)
  else action()
}

/** The open dialog, or null. */
export function useDialog(): Dialog | null {
  return useAtom(open, null)
}

/**
 * Calls `requestClose` when a person goes back while a dialog is open: an open dialog has an entry of its own in the
 * browser's history. Returns the function that ends this.
 */
export function closeDialogsOnBack(requestClose: (dialog: Dialog) => void): () => void {
  function onPopState(): void {
    const dialog = open.get()
    const done = stepBack
    stepBack = null
    if (done && done.dialog === dialog) open.set(null)
    else if (!done && dialog && !hasEntry()) requestClose(dialog)
    for (const action of done?.actions ?? []) action()
    matchHistory()
  }
  addEventListener('popstate', onPopState)
  matchHistory()
  return () => removeEventListener('popstate', onPopState)
}

/** Adds the entry of an open dialog to the history, or leaves an entry whose dialog is closed, as after a reload. */
function matchHistory(): void {
  if (stepBack || (open.get() !== null) === hasEntry()) return
  // A copy of the page's entry, with the router's key, so that for the router and the lists it is the same visit.
  if (open.get()) history.pushState({ ...history.state, isDialog: true }, '')
  else goBack(null)
}

function goBack(dialog: Dialog | null): void {
  // A step that is under way leaves the same entry.
  if (!stepBack) history.back()
  stepBack = { dialog, actions: stepBack?.actions ?? [] }
}

function hasEntry(): boolean {
  return (history.state as { isDialog?: boolean } | null)?.isDialog === true
}
