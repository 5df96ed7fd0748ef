import { openDialog } from './dialogs.ts'
import { sessionStore } from './storage.ts'
import { settledViewer } from './viewer.ts'

/** An action that needs somebody signed in. */
export type Intent =
  | { name: 'like'; postId: string }
  | { name: 'reply'; postId: string }
  | { name: 'new-post' }
  | { name: 'report'; postId: string }
  | { name: 'go'; path: string }

const KEY = 'intent'

/** Whether the kept action was asked for on this page, rather than before it was loaded. */
let askedHere = false
let perform: (intent: Intent) => void = () => {}

/** Registers how intents are carried out; the app knows, this file does not. Returns what ends that. */
export function performIntentsWith(performer: (intent: Intent) => void): () => void {
  perform = performer
  return () => {
    perform = () => {}
  }
}

/**
 * Does an action at once for a viewer who is signed in. A visitor gets the sign-in dialog, and the action is done after
 * signing in, even though the page reloads; closing the dialog drops it.
 */
export async function withViewer(intent: Intent): Promise<void> {
  const viewer = await settledViewer()
  if (viewer.state === 'authorized') return perform(intent)
  askedHere = true
  sessionStore.write(KEY, JSON.stringify(intent))
  openDialog({ name: 'sign-in' })
}

/** Does the action kept before signing in, if there is one; once. */
export function resumeIntent(): void {
  const kept = sessionStore.read(KEY)
  dropIntent()
  if (kept) perform(JSON.parse(kept) as Intent)
}

/** Forgets the kept action: the person closed the sign-in dialog. */
export function dropIntent(): void {
  sessionStore.remove(KEY)
}

/** Forgets an action kept by a page that was left without signing in. */
export function dropStaleIntent(): void {
  if (!askedHere) dropIntent()
}
