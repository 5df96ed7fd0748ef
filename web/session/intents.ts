import type { MouseEvent } from 'react'
import { type Dialog, onEntryChange, openDialog, openedDialog } from '../history/history.ts'
import { errorMessage } from '../http/error-message.ts'
import { createAtom, useAtom } from '../platform/atom.ts'
import { isRecord } from '../platform/guards.ts'
import { sessionStore } from '../platform/storage.ts'
import { isSecondClick } from '../ui/button.tsx'
import { toast } from '../ui/overlay/toaster.tsx'
import { isKnown, knownViewer, viewer, viewerForAction } from './viewer.ts'

type AboutPost = (typeof DIALOGS)[number]

export type Intent =
  /** `liked: false` takes the like back. */
  | { name: 'like'; postId: string; liked?: boolean; by?: string }
  | Extract<Dialog, { name: AboutPost }>
  | { name: 'new-post'; text?: string }
  | { name: 'go'; path: string }

const KEY = 'intent'
const DIALOGS = [
  ...(['reply', 'edit', 'clarify', 'delete', 'report', 'appeal'] as const),
  ...(['block-author', 'remove-post'] as const),
]
const ABOUT_A_POST = new Set<unknown>(['like', ...DIALOGS])

const waiting = createAtom<readonly Intent[]>([])

let perform: (intent: Intent) => void = () => {}

let askedOnThisPage = false

/** Performs an intent now, or after signing in. Until the viewer is known, the last counts. */
export async function withViewer(intent: Intent): Promise<void> {
  const known = viewer.get()
  // A known viewer is not awaited, so that everything happens in the task of the tap.
  const now = isKnown(known) ? known : await waitWith(intent)
  if (now === null) return
  if (now.state === 'authorized') return perform(intent)
  if (now.state === 'no-answer') {
    return toast({ text: errorMessage(now.error) })
  }
  keepIntent(intent)
  openDialog({ name: 'sign-in' })
}

export function openNewPost(event?: MouseEvent): void {
  // Under a double click on «Отмена» it would open another dialog.
  if (event && isSecondClick(event)) return
  void withViewer({ name: 'new-post' })
}

/** Waits for the viewer. Resolves to null if a later intent counts, or took this one back. */
async function waitWith(intent: Intent) {
  const others = waiting.get().filter((other) => kindOf(other) !== kindOf(intent))
  const takesBack = intent.name === 'like' && others.length < waiting.get().length
  waiting.set(takesBack ? others : [...others, intent])
  const now = await viewerForAction()
  const counts = waiting.get().includes(intent)
  waiting.set(waiting.get().filter((other) => other !== intent))
  return counts ? now : null
}

/** Stores an intent in this tab, to be resumed after signing in, by the user `by` if it is set. */
export function keepIntent(intent: Intent & { by?: string }): void {
  askedOnThisPage = true
  sessionStore.writeJson(KEY, intent)
}

export function useIsWaiting(is: (intent: Intent) => boolean): boolean {
  return useAtom({ get: () => waiting.get().some(is), subscribe: waiting.subscribe }, false)
}

/** Sets the function that performs intents. Resumes the stored intent once the viewer is known. */
export async function resumeIntents(performer: typeof perform): Promise<void> {
  perform = performer
  // A page that is opened meanwhile counts as the last intent.
  onEntryChange(() => waiting.set(waiting.get().filter(({ name }) => name === 'like')))
  const now = await knownViewer()
  // If an earlier page stored the intent, the visitor left it without signing in.
  if (now.state === 'authorized') resume(now.user.id)
  else if (!askedOnThisPage && openedDialog.get()?.name !== 'sign-in') dropIntent()
}

export function intentToResume(): (Intent & { by?: string }) | null {
  return sessionStore.readJson(KEY, isIntent)
}

function resume(userId: string): void {
  const stored = intentToResume()
  dropIntent()
  if (!stored) return
  const { by = userId, ...intent } = stored
  if (by === userId) perform(intent)
}

export function dropIntent(): void {
  sessionStore.remove(KEY)
}

/** Returns the kind of an intent, of which only the last counts. Likes of two posts both count. */
function kindOf(intent: Intent): string {
  return intent.name === 'like' ? `like ${intent.postId}` : 'open'
}

function isIntent(value: unknown): value is Intent {
  if (!isRecord(value)) return false
  const { name, postId, path } = value
  if (name === 'new-post') return true
  if (name === 'go') return typeof path === 'string' && path.startsWith('/')
  return typeof postId === 'string' && ABOUT_A_POST.has(name)
}
