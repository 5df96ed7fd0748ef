import { type QueryFunctionContext, QueryObserver, queryOptions } from '@tanstack/react-query'
import type { CurrentUser, OwnAccount } from '../../contract/account.ts'
import { call } from '../http/call.ts'
import { CallError } from '../http/call-error.ts'
import { queryClient, retryPause } from '../http/query-client.ts'
import { createEmitter, useAtom } from '../platform/atom.ts'
import { localStore } from '../platform/storage.ts'
import { createTabChannel } from '../platform/tabs.ts'
import { forgetPerson, forgetTab } from './forget-person.ts'
import { cameWithoutCookie } from './page-settings.ts'
import { HAD_SESSION_KEY } from './stored-keys.ts'
import { freshToken, hadSession, onSessionKnown, onSessionLost, resetToken } from './token.ts'

export type Viewer = { state: 'authorizing' } | { state: 'no-answer'; error: unknown } | KnownViewer

type KnownViewer =
  | { state: 'signed-out'; because?: CallError }
  | { state: 'authorized'; user: CurrentUser }

const AUTHORIZING: Viewer = { state: 'authorizing' }
const SIGNED_OUT: KnownViewer = { state: 'signed-out' }

const viewerQuery = queryOptions({
  queryKey: ['viewer'],
  queryFn: readViewer,
  retry: true,
  retryDelay: (failures, error) => retryPause(failures + 1, error, Math.random()),
  gcTime: Number.POSITIVE_INFINITY,
  staleTime: Number.POSITIVE_INFINITY,
  meta: { outlivesViewer: true },
})
const { queryKey } = viewerQuery
const observer = new QueryObserver<KnownViewer>(queryClient, viewerQuery)
export const viewer = { get: currentViewer, subscribe: observer.subscribe }

/** Announces a login, or with `true` a logout, to other tabs. */
const sessionChanges = createTabChannel<boolean>('session')
const otherViewer = createEmitter()

export const onOtherViewer = otherViewer.subscribe

const accountRead = createEmitter<OwnAccount>()

/** Calls a listener with the account of a user before the viewer becomes known. */
export const onAccountRead = accountRead.subscribe

let mayTell: Promise<void> | undefined
let noAnswer: Extract<Viewer, { state: 'no-answer' }> | undefined

export function useViewer(): Viewer {
  return useAtom(viewer, SIGNED_OUT)
}

/** Returns the signed-in user; undefined for a visitor, and while the viewer is not known. */
export function useUser(): CurrentUser | undefined {
  const now = useViewer()
  return now.state === 'authorized' ? now.user : undefined
}

export function isKnown(now: Viewer): now is KnownViewer {
  return now.state === 'authorized' || now.state === 'signed-out'
}

export function viewerId(): string | null {
  const now = currentViewer()
  return now.state === 'authorized' ? now.user.id : null
}

/** Resolves when the viewer is known. Retries until then. */
export function knownViewer(): Promise<KnownViewer> {
  return queryClient.ensureQueryData(viewerQuery)
}

/** Resolves when the viewer is known or no answer came. After a failure, retries at once. */
export async function viewerForAction(): Promise<Exclude<Viewer, { state: 'authorizing' }>> {
  const before = currentViewer()
  if (before.state === 'no-answer') fetchViewer()
  const { promise, resolve } = Promise.withResolvers<Exclude<Viewer, { state: 'authorizing' }>>()
  const check = () => {
    const now = currentViewer()
    if (now.state === 'authorizing' || (now.state === 'no-answer' && now === before)) return
    resolve(now)
  }
  const stop = viewer.subscribe(check)
  check()
  return promise.finally(stop)
}

function currentViewer(): Viewer {
  const { data, fetchFailureReason: error } = queryClient.getQueryState<KnownViewer>(queryKey) ?? {}
  if (!error || data?.state === 'signed-out') return data ?? AUTHORIZING
  if (noAnswer?.error !== error) noAnswer = { state: 'no-answer', error }
  return noAnswer
}

/** Begins to read the viewer, who becomes known only after `isShown`, and follows other tabs. */
export function loadViewer(isShown: Promise<void>): void {
  mayTell = isShown
  assumeVisitor()
  onSessionLost((error) => {
    if (error.code === 'SESSION_CLOSED') forgetClosed()
    signedOut(error)
  })
  onSessionKnown(retryNow)
  sessionChanges.subscribe(followOtherTab)
  addEventListener('online', retryNow)
  addEventListener('pageshow', followRestored)
  void queryClient.prefetchQuery(viewerQuery)
}

export function announceSessionChange(isLogOut = false): void {
  sessionChanges.post(isLogOut)
}

function forgetClosed(): void {
  forgetPerson(localStore.read(HAD_SESSION_KEY) ?? '')
  forgetTab()
  announceSessionChange(true)
}

function followOtherTab(isLogOut: boolean): void {
  if (isLogOut) forgetTab()
  reloadViewer()
}

/** Reads the viewer again after the back/forward cache, in which a page gets no messages. */
function followRestored({ persisted }: PageTransitionEvent): void {
  if (persisted && localStore.read(HAD_SESSION_KEY) !== viewerId()) reloadViewer()
}

function assumeVisitor(): void {
  if (!cameWithoutCookie() || hadSession()) return
  resetToken('none')
  queryClient.setQueryData<KnownViewer>(queryKey, SIGNED_OUT)
}

export function changeViewer(change: Partial<CurrentUser>): void {
  queryClient.setQueryData<KnownViewer>(queryKey, (now) =>
    now?.state === 'authorized' ? { ...now, user: { ...now.user, ...change } } : now,
  )
}

/** Reads the viewer again, and then notifies the listeners of onOtherViewer(). */
export function reloadViewer(): void {
  resetToken('unknown')
  void fetchViewer().then(otherViewer.emit)
}

/** Makes the viewer a visitor, because of an error or a logout. */
export function signedOut(because?: CallError): void {
  resetToken('none')
  queryClient.setQueryData<KnownViewer>(queryKey, {
    state: 'signed-out',
    ...(because && { because }),
  })
  otherViewer.emit()
}

function fetchViewer(): Promise<void> {
  // The answer to an earlier request may still be about the former viewer.
  void queryClient.cancelQueries({ queryKey }, { silent: true })
  return queryClient.prefetchQuery({ ...viewerQuery, staleTime: 0 })
}

function retryNow(): void {
  if (currentViewer().state === 'no-answer') void fetchViewer()
}

async function readViewer({ signal }: QueryFunctionContext): Promise<KnownViewer> {
  try {
    // Sends no request for a visitor, because its refusal would show in the console.
    if ((await freshToken()) === null) return visitor()
    const user = await call('GET /users/current', {}, { signal })
    localStore.write(HAD_SESSION_KEY, user.id)
    accountRead.emit(user)
    return { state: 'authorized', user }
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 401) throw error
    resetToken('none')
    return visitor()
  } finally {
    await mayTell
  }
}

/** Returns a visitor. Keeps the reason if the session was lost. */
function visitor(): KnownViewer {
  const known = queryClient.getQueryData<KnownViewer>(queryKey)
  return known?.state === 'signed-out' ? known : SIGNED_OUT
}
