import { createAtom, useAtom } from '../browser/atom.ts'
import { isRecord, sessionStore } from '../browser/storage.ts'
import { openDialog } from './dialogs.ts'
import { viewerForAction } from './viewer.ts'

/** An action that needs a signed-in user. */
export type Intent =
  | { name: 'like'; postId: string }
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

/** Whether the stored intent was asked for on this page, rather than before it was loaded. */
let askedOnThisPage = false

/**
 * Performs an intent at once for a signed-in viewer. A visitor gets the sign-in dialog, and the intent is performed after
 * signing in, even though the page reloads; closing the dialog drops it. If the server does not say who the viewer is, the
 * error is shown.
 */
export async function withViewer(intent: Intent): Promise<void> {
  const viewer = await viewerForAction()
  if (viewer.state === 'authorized') return addTask({ perform: intent })
  if (viewer.state === 'no-answer') return addTask({ showError: viewer.error })
  askedOnThisPage = true
  sessionStore.writeJson(KEY, intent)
  openDialog({ name: 'sign-in' })
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
  if (stored) addTask({ perform: stored })
}

/** Drops the stored intent: the person closed the sign-in dialog. */
export function dropIntent(): void {
  sessionStore.remove(KEY)
}

/** Drops an intent stored by an earlier page, which was left without signing in. */
export function dropStaleIntent(): void {
  if (!askedOnThisPage) dropIntent()
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
