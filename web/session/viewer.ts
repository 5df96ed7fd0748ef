import type { CurrentUser } from '../../contract/account.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { retryPause } from '../http/query-client.ts'
import { createAtom, createEmitter, useAtom } from '../platform/atom.ts'
import { cameWithoutCookie } from './page-settings.ts'
import { createTabChannel } from './tab-channel.ts'
import { freshToken, hadSession, onSessionKnown, onSessionLost, resetToken } from './token.ts'

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

export const onOtherViewer = otherViewer.subscribe

let mayTell: Promise<void> | undefined
let fetching: Promise<void> | null = null
let retryTimer: ReturnType<typeof setTimeout> | undefined
/** Failed requests in a row. */
let failures = 0

export function useViewer(): Viewer {
  return useAtom(viewer, SIGNED_OUT)
}

export function viewerId(): string | null {
  const now = viewer.get()
  return now.state === 'authorized' ? now.user.id : null
}

export function knownViewer(): Promise<KnownViewer> {
  return viewerOnce(isKnown)
}

/** After a failure, one more request is made at once. */
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

/** Only a refusal makes a visitor. Nothing is told before `isShown` resolves. */
export async function loadViewer(isShown?: Promise<void>): Promise<void> {
  mayTell = isShown
  assumeVisitor()
  onSessionLost(() => signedOut('session-closed'))
  onSessionKnown(fetchUnlessKnown)
  sessionChanges.subscribe(() => void reloadViewer())
  addEventListener('online', fetchUnlessKnown)
  await fetchViewer()
}

export function announceSessionChange(): void {
  sessionChanges.post(null)
}

/** A page that came without a cookie needs no request if this browser remembers no session. */
export function assumeVisitor(): void {
  if (!cameWithoutCookie() || hadSession()) return
  resetToken('none')
  viewer.set(SIGNED_OUT)
}

export function changeViewer(change: Partial<CurrentUser>): void {
  const now = viewer.get()
  if (now.state === 'authorized') {
    viewer.set({ state: 'authorized', user: { ...now.user, ...change } })
  }
}

export async function reloadViewer(): Promise<void> {
  resetToken('unknown')
  // An answer to a request already sent may still be about the former viewer.
  await fetching
  await fetchViewer()
  otherViewer.emit()
}

export function signedOut(because?: 'session-closed'): void {
  resetToken('none')
  viewer.set(because ? { state: 'signed-out', because } : SIGNED_OUT)
  otherViewer.emit()
}

/** Fetches the viewer without waiting for the next retry. Never rejects. */
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
    // A refused request without a token would show in the visitor's console.
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
