import { isForUsers, PATHS, pageAt } from '../../contract/pages.ts'
import { currentEntry, navigate, onEntryChange } from '../history/history.ts'
import { withViewer } from '../session/intents.ts'
import { viewer } from '../session/viewer.ts'

/**
 * Keeps visitors from the pages of users. One who opens such a page gets the sign-in dialog, which
 * leads back there; a user who has signed out there is only sent to the wall.
 */
export function guardPages(): void {
  let lastState = viewer.get().state
  onEntryChange(() => sendVisitorAway(true))
  viewer.subscribe(() => {
    const before = lastState
    const now = viewer.get()
    lastState = now.state
    if (before === lastState) return
    // A dialog that closes with the session steps back in the history first.
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
