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
 * Until the step is done its dialog stays open, since a link that is followed meanwhile would be
 * undone. After a reload there is no dialog.
 */
let stepBack: { dialog: Dialog | null; actions: (() => void)[] } | null = null

export function openDialog(dialog: Dialog): void {
  open.set(dialog)
  matchHistory()
}

/**
 * The dialog closes a moment later, after its history entry. Returns whether this call closes it.
 */
export function closeDialog(dialog: Dialog): boolean {
  if (open.get() !== dialog || stepBack?.dialog === dialog) return false
  if (hasEntry()) goBack(dialog)
  else open.set(null)
  return true
}

/** Runs `action`, which opens another page, as soon as the open dialog has closed as by Escape. */
export function leaveDialog(action: () => void): void {
  const dialog = open.get()
  const shown = document.querySelector('dialog[open]')
  if (shown) shown.dispatchEvent(new Event('cancel', { cancelable: true }))
  else if (dialog) closeDialog(dialog)
  whenDialogIsClosed(action)
}

/** Runs `action`, which opens a page or a dialog, when no closed dialog has a history entry. */
export function whenDialogIsClosed(action: () => void): void {
  if (stepBack) stepBack.actions.push(action)
  else action()
}

export function useDialog(): Dialog | null {
  return useAtom(open, null)
}

/** An open dialog has a history entry, so that going back closes it. Returns how to end this. */
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

/** After a reload, the current entry may be that of a dialog that is closed. */
function matchHistory(): void {
  if (stepBack || (open.get() !== null) === hasEntry()) return
  // The copy has the router's key, so that for the router and the lists it is the same page.
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
