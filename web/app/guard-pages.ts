import { isForUsers, PATHS, pageAt } from '../../contract/pages.ts'
import { currentEntry, onEntryChange, replacePage } from '../history/history.ts'
import { withViewer } from '../session/intents.ts'
import { viewer } from '../session/viewer.ts'

type TextInput = HTMLInputElement | HTMLTextAreaElement

/** The fields in which the person has typed. */
const typedIn = new WeakSet<TextInput>()

/**
 * Sends visitors from the pages of users to the wall. A visitor who opens such a page gets the
 * sign-in dialog, which leads back there; a user who signs out there does not.
 */
export function guardPages(): void {
  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
      typedIn.add(target)
  })
  let lastState = viewer.get().state
  onEntryChange(() => sendVisitorAway(true))
  viewer.subscribe(() => {
    const before = lastState
    const now = viewer.get()
    lastState = now.state
    if (before === lastState) return
    // Deferred, because a dialog that closes with the session first steps back in the history.
    queueMicrotask(() => {
      const hasEnded = 'because' in now
      // What is typed stays on the screen.
      if (!hasEnded || !hasTypedText()) sendVisitorAway(before !== 'authorized' && !hasEnded)
    })
  })
  sendVisitorAway(true)
}

function hasTypedText(): boolean {
  const fields = document.querySelectorAll<TextInput>('main :is(input, textarea)')
  return [...fields].some((field) => typedIn.has(field) && field.value.trim() !== '')
}

function sendVisitorAway(offersSignIn: boolean): void {
  const { pathname } = currentEntry()
  const page = pageAt(pathname)
  if (viewer.get().state !== 'signed-out' || !page || !isForUsers(page)) return
  replacePage(PATHS.wall)
  if (offersSignIn) void withViewer({ name: 'go', path: pathname })
}
