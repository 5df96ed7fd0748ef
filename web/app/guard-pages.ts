import { isForUsers, PATHS, pageAt } from '../../contract/pages.ts'
import { currentEntry, navigate, onEntryChange } from '../history/history.ts'
import { withViewer } from '../session/intents.ts'
import { viewer } from '../session/viewer.ts'

/**
 * Sends visitors from the pages of users to the wall. A visitor who opens such a page gets the
 * sign-in dialog, which leads back there; a user who signs out there does not.
 */
export function guardPages(): void {
  let lastState = viewer.get().state
  onEntryChange(() => sendVisitorAway(true))
  viewer.subscribe(() => {
    const before = lastState
    const now = viewer.get()
    lastState = now.state
    if (before === lastState) return
    // Deferred, because a dialog that closes with the session first steps back in the history.
    queueMicrotask(() => sendVisitorAway(before !== 'authorized' && !('because' in now)))
  })
  sendVisitorAway(true)
}

function sendVisitorAway(offersSignIn: boolean): void {
  const { pathname } = currentEntry()
  const page = pageAt(pathname)
  if (viewer.get().state !== 'signed-out' || !page || !isForUsers(page)) return
  navigate(PATHS.wall, { replace: true })
  if (offersSignIn) void withViewer({ name: 'go', path: pathname })
}
