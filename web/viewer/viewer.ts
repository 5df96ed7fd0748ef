import type { CurrentUser } from '../../contract/account.ts'
import { call } from '../api/call.ts'
import { CallError } from '../api/call-error.ts'
import { retryPause } from '../api/query-client.ts'
import { freshToken, hadSession, onSessionKnown, onSessionLost, resetToken } from '../api/token.ts'
import { createAtom, createEmitter, useAtom } from '../browser/atom.ts'
import { cameWithoutCookie } from '../browser/page-settings.ts'
import { createTabChannel } from '../browser/tab-channel.ts'

export type Viewer =
  | { state: 'authorizing' }
  /** The server did not answer; the request is repeated. */
  | { state: 'no-answer'; error: unknown }
  | KnownViewer

type KnownViewer =
  | { state: 'signed-out'; because?: 'session-closed' }
  | { state: 'authorized'; user: CurrentUser }

const AUTHORIZING: Viewer = { state: 'authorizing' }
const SIGNED_OUT: KnownViewer = { state: 'signed-out' }

/** Other tabs must not go on as the former viewer when one has signed in or out. */
const sessionChanges = createTabChannel<null>('session')
const viewer = createAtom<Viewer>(AUTHORIZING)
const otherViewer = createEmitter()

/** Calls a listener when it is somebody else who reads from now on. Returns the function that unsubscribes it. */
export const onOtherViewer = otherViewer.subscribe

let mayTell: Promise<void> | undefined
let fetching: Promise<void> | null = null
let retryTimer: ReturnType<typeof setTimeout> | undefined
/** Failed requests in a row. */
let failures = 0

/** The signed-in user or the visitor, or that it is not known yet; a visitor on the server. */
export function useViewer(): Viewer {
  return useAtom(viewer, SIGNED_OUT)
}

/** The id of the signed-in user; null for a visitor, and while it is not known. */
export function viewerId(): string | null {
  const now = viewer.get()
  return now.state === 'authorized' ? now.user.id : null
}

/** Resolves as soon as it is known whether somebody is signed in. */
export function knownViewer(): Promise<KnownViewer> {
  return viewerOnce(isKnown)
}

/** Resolves with the viewer for an action: after a failure, one more request is made at once. */
export async function viewerForAction(): Promise<Exclude<Viewer, { state: 'authorizing' }>> {
  if (viewer.get().state === 'no-answer') await fetchViewer()
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
 * Fetches the viewer when the app starts, and whenever the session changes. Only a refusal makes a visitor: after a failure
 * the request is repeated after growing pauses, and at once when the network is back or another call has got a token. What
 * it returns is told only when `isShown` resolves.
 */
export async function loadViewer(isShown?: Promise<void>): Promise<void> {
  mayTell = isShown
  assumeVisitor()
  onSessionLost(() => signedOut('session-closed'))
  onSessionKnown(fetchUnlessKnown)
  sessionChanges.subscribe(() => void reloadViewer())
  addEventListener('online', fetchUnlessKnown)
  await fetchViewer()
}

/** Tells the other tabs of this browser that this one has signed in or out. */
export function announceSessionChange(): void {
  sessionChanges.post(null)
}

/** Takes the viewer for a visitor, without asking the server, where the page came without a cookie and none is remembered. */
export function assumeVisitor(): void {
  if (!cameWithoutCookie() || hadSession()) return
  resetToken('none')
  viewer.set(SIGNED_OUT)
}

/** Applies a changed name or e-mail address of the signed-in user. */
export function changeViewer(change: Partial<CurrentUser>): void {
  const now = viewer.get()
  if (now.state === 'authorized') {
    viewer.set({ state: 'authorized', user: { ...now.user, ...change } })
  }
}

/** Fetches the viewer anew: another tab has signed in or out, or this session was closed. */
export async function reloadViewer(): Promise<void> {
  resetToken('unknown')
  // An answer to a request already sent may still be about the former viewer.
  await fetching
  await fetchViewer()
  otherViewer.emit()
}

/** Makes the viewer a visitor: drops the token and everything that was read with it. */
export function signedOut(because?: 'session-closed'): void {
  resetToken('none')
  viewer.set(because ? { state: 'signed-out', because } : SIGNED_OUT)
  otherViewer.emit()
}

/** Fetches the viewer now, without waiting for the next retry. Resolves after an answer or a failure; never rejects. */
export function fetchViewer(): Promise<void> {
  clearTimeout(retryTimer)
  fetching ??= fetchOnce().finally(() => {
    fetching = null
  })
  return fetching
}

function fetchUnlessKnown(): void {
  if (!isKnown(viewer.get())) void fetchViewer()
}

async function fetchOnce(): Promise<void> {
  try {
    // Without a token there is nobody to ask about, and a refused request would show in the visitor's console.
    const signedIn = (await freshToken()) !== null
    const user = signedIn && (await call('GET /users/current', {}))
    await mayTell
    setKnown(user ? { state: 'authorized', user } : SIGNED_OUT)
  } catch (error) {
    await mayTell
    if (error instanceof CallError && error.status === 401) handleRefusal()
    else retryLater(error)
  }
}

function setKnown(next: KnownViewer): void {
  failures = 0
  viewer.set(next)
}

function handleRefusal(): void {
  resetToken('none')
  // When the session was lost, the viewer is signed out already, and knows the reason.
  if (viewer.get().state !== 'signed-out') setKnown(SIGNED_OUT)
}

function retryLater(error: unknown): void {
  failures += 1
  viewer.set({ state: 'no-answer', error })
  retryTimer = setTimeout(() => void fetchViewer(), retryPause(failures, error, Math.random()))
}
