import { createAtom, useAtom } from '../browser/atom.ts'
import { isRecord, sessionStore } from '../browser/storage.ts'
import { openDialog } from './dialogs.ts'
import { viewerForAction, viewerId } from './viewer.ts'

/** An action that needs a signed-in user. */
export type Intent =
  /** `liked: false` takes the like back. Only the user `by`, if it says one, may resume it. */
  | { name: 'like'; postId: string; liked?: boolean; by?: string }
  | { name: 'reply'; postId: string }
  | { name: 'new-post' }
  | { name: 'edit'; postId: string }
  | { name: 'delete'; postId: string }
  | { name: 'report'; postId: string }
  | { name: 'appeal'; postId: string }
  | { name: 'go'; path: string }

/** What the app has to do: perform an intent, or show the error that prevents it. */
export type IntentTask = { perform: Intent } | { showError: unknown }

const KEY = 'intent'
const ABOUT_A_POST = new Set<unknown>(['like', 'reply', 'edit', 'delete', 'report', 'appeal'])
const NO_TASKS: readonly IntentTask[] = []

/** In the order in which they were asked for. */
const tasks = createAtom(NO_TASKS)

/** Intents that wait until it is known who the viewer is. */
const waiting = createAtom<readonly Intent[]>([])

/** Whether the stored intent was asked for on this page, rather than before it was loaded. */
let askedOnThisPage = false

/**
 * Performs an intent at once for a signed-in viewer. A visitor gets the sign-in dialog, and the intent is performed after
 * signing in, even though the page reloads; closing the dialog drops it. If the server does not say who the viewer is, the
 * error is shown. While it is not known, the last intent counts: a second tap on a heart takes the first one back.
 */
export async function withViewer(intent: Intent): Promise<void> {
  if (!startWaiting(intent)) return
  const viewer = await viewerForAction()
  if (!stopWaiting(intent)) return
  if (viewer.state === 'authorized') return addTask({ perform: intent })
  if (viewer.state === 'no-answer') return addTask({ showError: viewer.error })
  keepIntent(intent)
  openDialog({ name: 'sign-in' })
}

/** Stores an intent, which is performed when the viewer has signed in, even though the page reloads. */
export function keepIntent(intent: Intent): void {
  askedOnThisPage = true
  sessionStore.writeJson(KEY, intent)
}

/** Whether an intent of this kind waits until it is known who the viewer is. */
export function useIsWaiting(is: (intent: Intent) => boolean): boolean {
  return useAtom({ get: () => waiting.get().some(is), subscribe: waiting.subscribe }, false)
}

/** The tasks that wait to be done. */
export function useIntentTasks(): readonly IntentTask[] {
  return useAtom(tasks, NO_TASKS)
}

/** Removes a task; false if somebody else has already taken it. */
export function takeIntentTask(task: IntentTask): boolean {
  const rest = tasks.get().filter((other) => other !== task)
  if (rest.length === tasks.get().length) return false
  tasks.set(rest)
  return true
}

/** Performs the intent stored before signing in, if there is one; once. */
export function resumeIntent(): void {
  const stored = sessionStore.readJson(KEY, isIntent)
  dropIntent()
  if (!stored) return
  const isOthers = stored.name === 'like' && stored.by !== undefined && stored.by !== viewerId()
  if (!isOthers) addTask({ perform: stored })
}

/** Drops the stored intent: the person closed the sign-in dialog. */
export function dropIntent(): void {
  sessionStore.remove(KEY)
}

/** Drops an intent stored by an earlier page, which was left without signing in. */
export function dropStaleIntent(): void {
  if (!askedOnThisPage) dropIntent()
}

/** Makes an intent wait, in place of an earlier one of its kind. Returns false for one that only takes the earlier one back. */
function startWaiting(intent: Intent): boolean {
  const before = waiting.get()
  const others = before.filter((other) => kindOf(other) !== kindOf(intent))
  const takesBack = intent.name === 'like' && others.length < before.length
  waiting.set(takesBack ? others : [...others, intent])
  return !takesBack
}

/** Returns false if the intent no longer waits, because a later one counts. */
function stopWaiting(intent: Intent): boolean {
  const before = waiting.get()
  waiting.set(before.filter((other) => other !== intent))
  return before.includes(intent)
}

/** Likes of two posts are both wanted, but only one page or dialog can be opened. */
function kindOf(intent: Intent): string {
  return intent.name === 'like' ? `like ${intent.postId}` : 'open'
}

function addTask(task: IntentTask): void {
  tasks.set([...tasks.get(), task])
}

function isIntent(value: unknown): value is Intent {
  if (!isRecord(value)) return false
  const { name, postId, path } = value
  if (name === 'new-post') return true
  if (name === 'go') return typeof path === 'string' && path.startsWith('/')
  return typeof postId === 'string' && ABOUT_A_POST.has(name)
}
