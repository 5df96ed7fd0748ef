import { forgetAnchors } from '../history/scroll-anchors.ts'
import { sessionStore } from '../platform/storage.ts'

/** Removes what this tab stores: it is all of the user who has logged out. */
export function forgetTab(): void {
  sessionStore.keys('').forEach(sessionStore.remove)
  forgetAnchors()
}
