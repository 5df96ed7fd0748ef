import { isRecord, sessionStore } from '../browser/storage.ts'
import { openDialog } from './dialogs.ts'
import { askedViewer } from './viewer.ts'

/** An action that needs somebody signed in. */
export type Intent =
  | { name: 'like'; postId: string }
  | { name: 'reply'; postId: string }
  | { name: 'new-post' }
  | { name: 'edit'; postId: string }
  | { name: 'delete'; postId: string }
  | { name: 'report'; postId: string }
  | { name: 'go'; path: string }

const KEY = 'intent'
const ABOUT_A_POST = new Set<unknown>(['like', 'reply', 'edit', 'delete', 'report'])

/** Whether the kept action was asked for on this page, rather than before it was loaded. */
let askedHere = false

type Performer = {
  perform: (intent: Intent) => void
  /** Tells a person why what they tapped cannot be done now. */
  refuse: (error: unknown) => void
}

const NOBODY: Performer = { perform: () => {}, refuse: () => {} }
let performer = NOBODY

/** Registers how intents are carried out; the app knows, this file does not. Returns what ends that. */
export function performIntentsWith(next: Performer): () => void {
  performer = next
  return () => {
    performer = NOBODY
  }
}

/**
 * Does an action at once for a viewer who is signed in. A visitor gets the sign-in dialog, and the action is done after
 * signing in, even though the page reloads; closing the dialog drops it. Where the server does not say who came, the
 * person is told so.
 */
export async function withViewer(intent: Intent): Promise<void> {
  const viewer = await askedViewer()
  if (viewer.state === 'authorized') return performer.perform(intent)
  if (viewer.state === 'no-answer') return performer.refuse(viewer.error)
  askedHere = true
  sessionStore.writeJson(KEY, intent)
  openDialog({ name: 'sign-in' })
}

/** Does the action kept before signing in, if there is one; once. */
export function resumeIntent(): void {
  const kept = sessionStore.readJson(KEY, isIntent)
  dropIntent()
  if (kept) performer.perform(kept)
}

/** Forgets the kept action: the person closed the sign-in dialog. */
export function dropIntent(): void {
  sessionStore.remove(KEY)
}

/** Forgets an action kept by a page that was left without signing in. */
export function dropStaleIntent(): void {
  if (!askedHere) dropIntent()
}

function isIntent(value: unknown): value is Intent {
  if (!isRecord(value)) return false
  const { name, postId, path } = value
  if (name === 'new-post') return true
  if (name === 'go') return typeof path === 'string' && path.startsWith('/')
  return typeof postId === 'string' && ABOUT_A_POST.has(name)
}
