import { type QueryFunctionContext, QueryObserver, queryOptions } from '@tanstack/react-query'
import { useState } from 'react'
import type { CurrentUser, OwnAccount } from '../../contract/account.ts'
import { call } from '../http/call.ts'
import { CallError, type Failure, isRefused } from '../http/call-error.ts'
import { queryClient, retryPause } from '../http/query-client.ts'
import { freshToken, hadSession, onSessionKnown, onSessionLost, resetToken } from '../http/token.ts'
import { createEmitter, useAtom } from '../platform/atom.ts'
import { cameWithoutCookie } from '../platform/page-settings.ts'
import { localStore } from '../platform/storage.ts'
import { HAD_SESSION_KEY } from '../platform/stored-keys.ts'
import { createTabChannel } from '../platform/tabs.ts'
import { forgetPerson, forgetTab } from './forget-person.ts'
import { returnKept } from './kept-texts.ts'

export type Viewer = { state: 'authorizing' } | { state: 'no-answer'; error: unknown } | KnownViewer

type KnownViewer =
  /** `because` is why the session of the user `former` ended by itself. */
  | { state: 'signed-out'; because?: CallError; former?: string }
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

/** Announces a login, a logout (`true`), or why somebody has closed the session, to other tabs. */
const sessionChanges = createTabChannel<boolean | Failure>('session')
const otherViewer = createEmitter()

export const onOtherViewer = otherViewer.subscribe

const accountRead = createEmitter<OwnAccount>()

/** Calls a listener with the account of a user before the viewer becomes known. */
export const onAccountRead = accountRead.subscribe

/** Resolves when the page is hydrated, before which the viewer must not change. */
let shown: Promise<void> | undefined
let noAnswer: Extract<Viewer, { state: 'no-answer' }> | undefined

export function useViewer(): Viewer {
  return useAtom(viewer, SIGNED_OUT)
}

/** Returns the signed-in user; undefined for a visitor, and while the viewer is not known. */
export function useUser(): CurrentUser | undefined {
  const now = useViewer()
  return now.state === 'authorized' ? now.user : undefined
}

/** Returns why the session ended, if it ended by itself while the page was open. */
export function useSessionEnd(): CallError | undefined {
  const now = useViewer()
  return now.state === 'signed-out' ? now.because : undefined
}

/** Returns whether the session ended by itself because of `error`, and nobody has signed out since. */
export function hasEndedBy(error: CallError): boolean {
  const now = currentViewer()
  return now.state === 'signed-out' && now.because === error
}

/** Returns whether the session was closed, by its user on another device or by an operator. */
export function isSessionClosed(): boolean {
  const now = currentViewer()
  return now.state === 'signed-out' && now.because?.code === 'SESSION_CLOSED'
}

/** Returns the id of the user or, if the session ended by itself, of the former user; else ''. */
export function useAuthorId(): string {
  const now = useViewer()
  if (now.state === 'authorized') return now.user.id
  return (now.state === 'signed-out' && now.former) || ''
}

/** Returns the user or, if the session ended by itself under this component, the former user. */
export function useLastUser(): CurrentUser | undefined {
  const now = useViewer()
  const [last, setLast] = useState<CurrentUser>()
  if (now.state === 'authorized' && now.user !== last) setLast(now.user)
  if (now.state === 'authorized') return now.user
  return now.state === 'signed-out' && now.because ? last : undefined
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

/** Returns the viewer, who stays known if a later read gets no answer. */
function currentViewer(): Viewer {
  const { data, fetchFailureReason: error } = queryClient.getQueryState<KnownViewer>(queryKey) ?? {}
  if (data) return data
  return error ? noAnswerFor(error) : AUTHORIZING
}

/** Returns the same viewer for the same error, because React compares objects by identity. */
function noAnswerFor(error: unknown): Viewer {
  if (noAnswer && noAnswer.error === error) return noAnswer
  noAnswer = { state: 'no-answer', error }
  return noAnswer
}

/** Begins to read the viewer, who becomes known only after `isShown`, and follows other tabs. */
export function loadViewer(isShown: Promise<void>): void {
  shown = isShown
  assumeVisitor()
  onSessionLost((error) => {
    if (error.code === 'SESSION_CLOSED') forgetClosedSession(error)
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

/** Removes what is stored, except texts that were submitted. */
function forgetClosedSession({ code, message, status }: CallError): void {
  forgetPerson(localStore.read(HAD_SESSION_KEY) ?? '', { keepsSubmitted: true })
  forgetTab()
  sessionChanges.post({ code, message, status })
}

function followOtherTab(change: boolean | Failure): void {
  if (change) forgetTab()
  if (!change) reloadViewer()
  else if (change === true) signedOut()
  else if (currentViewer().state !== 'signed-out') signedOut(new CallError(change))
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
  const former = viewerId()
  queryClient.setQueryData<KnownViewer>(queryKey, {
    state: 'signed-out',
    ...(because && { because, ...(former && { former }) }),
  })
  otherViewer.emit()
}

function fetchViewer(): Promise<void> {
  // The answer to an earlier request may still be about the former viewer.
  void queryClient.cancelQueries({ queryKey }, { silent: true })
  return queryClient.prefetchQuery({ ...viewerQuery, staleTime: 0 })
}

function retryNow(): void {
  if (queryClient.getQueryState(queryKey)?.fetchFailureReason) void fetchViewer()
}

async function readViewer({ signal }: QueryFunctionContext): Promise<KnownViewer> {
  try {
    // Sends no request for a visitor, because its refusal would show in the console.
    if ((await freshToken()) === null) return visitor()
    const user = await call('GET /users/current', {}, { signal })
    localStore.write(HAD_SESSION_KEY, user.id)
    returnKept(user.id)
    accountRead.emit(user)
    return { state: 'authorized', user }
  } catch (error) {
    if (!isRefused(error)) throw error
    resetToken('none')
    return visitor()
  } finally {
    await shown
  }
}

/** Returns a visitor. Keeps the reason if the session was lost. */
function visitor(): KnownViewer {
  const known = queryClient.getQueryData<KnownViewer>(queryKey)
  return known?.state === 'signed-out' ? known : SIGNED_OUT
}
