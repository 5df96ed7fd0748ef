import type { CurrentUser } from '../../contract/account.ts'
import { CallError, call } from '../api/call.ts'
import { queryClient } from '../api/query-client.ts'
import { retryPause } from '../api/retry-pause.ts'
import { forgetToken, freshToken, hadSession, onSessionKnown, onSessionLost } from '../api/token.ts'
import { createStore, useStore } from '../browser/atom.ts'
import { cameWithoutCookie } from '../browser/page-settings.ts'
import { onSessionChange } from './session-channel.ts'

export type Viewer =
  | { state: 'authorizing' }
  /** The server could not be asked, for now; it is asked again and again. */
  | { state: 'no-answer'; error: unknown }
  | KnownViewer

type KnownViewer =
  | { state: 'signed-out'; because?: 'session-closed' }
  | { state: 'authorized'; user: CurrentUser }

const AUTHORIZING: Viewer = { state: 'authorizing' }
const SIGNED_OUT: KnownViewer = { state: 'signed-out' }

const viewer = createStore<Viewer>(AUTHORIZING)
let asking: Promise<void> | null = null
let askingLater: ReturnType<typeof setTimeout> | undefined
/** How often in a row there was no answer. */
let failures = 0

/** Who looks at the page, kept up to date. */
export function useViewer(): Viewer {
  return useStore(viewer, AUTHORIZING)
}

/** Resolves with the viewer once it is known whether somebody is signed in. */
export function settledViewer(): Promise<KnownViewer> {
  return viewerOnce(isKnown)
}

/** The viewer for somebody who has just tapped: where no answer came before, the server is asked once more. */
export async function askedViewer(): Promise<Exclude<Viewer, { state: 'authorizing' }>> {
  if (viewer.get().state === 'no-answer') await askAgain()
  return viewerOnce((now) => now.state !== 'authorizing')
}

function isKnown(now: Viewer): now is KnownViewer {
  return now.state === 'signed-out' || now.state === 'authorized'
}

function viewerOnce<V extends Viewer>(is: (now: Viewer) => now is V): Promise<V> {
  return new Promise((resolve) => {
    const check = () => {
      const now = viewer.get()
      if (!is(now)) return
      stop()
      resolve(now)
    }
    const stop = viewer.subscribe(check)
    check()
  })
}

/**
 * Finds out who the viewer is, when the app starts. Only a refusal makes a visitor: without an answer the server is asked
 * again after growing pauses, and at once when the network is back or any other call has found the session alive.
 */
export async function loadViewer(): Promise<void> {
  onSessionLost(() => signedOut('session-closed'))
  onSessionKnown(askUnlessKnown)
  onSessionChange(() => void reloadViewer())
  addEventListener('online', askUnlessKnown)
  if (cameWithoutCookie() && !hadSession()) forgetToken('none')
  await askAgain()
}

/** Puts the account's new name or address before everybody who shows it. */
export function changeViewer(change: Partial<CurrentUser>): void {
  const now = viewer.get()
  if (now.state === 'authorized') {
    viewer.set({ state: 'authorized', user: { ...now.user, ...change } })
  }
}

/** Asks anew who the viewer is: somebody has signed in or out in another tab, or closed this session. */
export async function reloadViewer(): Promise<void> {
  forgetToken('unknown')
  // An answer under way may still be about the one before.
  await asking
  await askAgain()
  clearCache()
}

/** Back to a visitor: drops the token and everything that was read as the one signed in. */
export function signedOut(because?: 'session-closed'): void {
  forgetToken('none')
  viewer.set(because ? { state: 'signed-out', because } : SIGNED_OUT)
  clearCache()
}

/** Asks now who the viewer is, not after the pause; settles when there was an answer, or none. */
export function askAgain(): Promise<void> {
  clearTimeout(askingLater)
  asking ??= ask().finally(() => {
    asking = null
  })
  return asking
}

function askUnlessKnown(): void {
  if (!isKnown(viewer.get())) void askAgain()
}

async function ask(): Promise<void> {
  try {
    // A visitor has no token and asks no further: no refused request in the console of somebody just reading.
    const signedIn = (await freshToken()) !== null
    found(
      signedIn ? { state: 'authorized', user: await call('GET /users/current', {}) } : SIGNED_OUT,
    )
  } catch (error) {
    if (error instanceof CallError && error.status === 401) refused()
    else unanswered(error)
  }
}

function found(next: KnownViewer): void {
  failures = 0
  viewer.set(next)
}

function refused(): void {
  forgetToken('none')
  // Where a session was just lost, that was told already, with its reason.
  if (viewer.get().state !== 'signed-out') found(SIGNED_OUT)
}

function unanswered(error: unknown): void {
  failures += 1
  viewer.set({ state: 'no-answer', error })
  askingLater = setTimeout(() => void askAgain(), retryPause(failures, error, Math.random()))
}

/** What is on the screen is read again at once, everything else when it is next needed. */
function clearCache(): void {
  // Not by `type`: posts are entries without a query of their own, which count as inactive even while on the screen.
  queryClient.removeQueries({ predicate: (query) => query.getObserversCount() === 0 })
  void queryClient.resetQueries({ predicate: (query) => query.getObserversCount() > 0 })
}
