import { useSyncExternalStore } from 'react'
import type { CurrentUser } from '../../contract/account.ts'
import { forgetToken, freshToken, onSessionLost } from './access-token.ts'
import { CallError, call } from './call.ts'
import { queryClient } from './query-client.ts'
import { onSessionChange } from './session-channel.ts'
import { cameWithoutSession } from './settings.ts'

export type Viewer =
  | { state: 'authorizing' }
  | { state: 'signed-out'; because?: 'session-closed' }
  | { state: 'authorized'; user: CurrentUser }

const AUTHORIZING: Viewer = { state: 'authorizing' }
const SIGNED_OUT: Viewer = { state: 'signed-out' }
const RETRY_MS = [1000, 3000]

let viewer: Viewer = AUTHORIZING
const listeners = new Set<() => void>()

/** Who looks at the page, kept up to date. */
export function useViewer(): Viewer {
  return useSyncExternalStore(onViewerChange, currentViewer, () => AUTHORIZING)
}

function currentViewer(): Viewer {
  return viewer
}

function onViewerChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Resolves with the viewer once it is known whether somebody is signed in. */
export function settledViewer(): Promise<Exclude<Viewer, { state: 'authorizing' }>> {
  return new Promise((resolve) => {
    const check = () => {
      if (viewer.state === 'authorizing') return
      stop()
      resolve(viewer)
    }
    const stop = onViewerChange(check)
    check()
  })
}

/** Finds out who the viewer is, when the app starts. No answer counts as signed out until the network is back. */
export async function loadViewer(): Promise<void> {
  onSessionLost(() => signedOut('session-closed'))
  onSessionChange(() => void reloadViewer())
  if (cameWithoutSession()) forgetToken('none')
  await authorize(RETRY_MS)
}

/** Puts the account's new name or address before everybody who shows it. */
export function changeViewer(change: Partial<CurrentUser>): void {
  if (viewer.state === 'authorized')
    setViewer({ state: 'authorized', user: { ...viewer.user, ...change } })
}

/** Asks anew who the viewer is: another tab has signed in or out. */
async function reloadViewer(): Promise<void> {
  forgetToken('unknown')
  await authorize(RETRY_MS)
  clearCache()
}

/** Back to a visitor: drops the token and everything that was read as the one signed in. */
export function signedOut(because?: 'session-closed'): void {
  forgetToken('none')
  setViewer(because ? { state: 'signed-out', because } : SIGNED_OUT)
  clearCache()
}

async function authorize(pauses: number[]): Promise<void> {
  try {
    // A visitor has no token and asks no further: no refused request in the console of somebody just reading.
    const signedIn = (await freshToken()) !== null
    setViewer(
      signedIn ? { state: 'authorized', user: await call('GET /users/current', {}) } : SIGNED_OUT,
    )
  } catch (error) {
    if (error instanceof CallError && error.status !== 401) return authorizeLater(pauses)
    setViewer(SIGNED_OUT)
  }
}

async function authorizeLater([pause, ...rest]: number[]): Promise<void> {
  if (pause !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    return authorize(rest)
  }
  setViewer(SIGNED_OUT)
  addEventListener('online', () => void authorize(RETRY_MS), { once: true })
}

/** What is on the screen is read again at once, everything else when it is next needed. */
function clearCache(): void {
  // Not by `type`: posts are entries without a query of their own, which count as inactive even while on the screen.
  queryClient.removeQueries({ predicate: (query) => query.getObserversCount() === 0 })
  void queryClient.resetQueries({ predicate: (query) => query.getObserversCount() > 0 })
}

function setViewer(next: Viewer): void {
  viewer = next
  for (const listener of listeners) listener()
}
