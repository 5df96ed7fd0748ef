import { REQUEST_TIMEOUT_MS, TOKEN_REFRESH_SECONDS } from '../../contract/constants.ts'
import type { AccessTokenAnswer } from '../../contract/fields.ts'
import { createEmitter } from '../browser/atom.ts'
import { localStore } from '../browser/storage.ts'
import { CallError } from './call-error.ts'
import { clientToken } from './device.ts'
import { send } from './send.ts'
import { serverNow, setServerClock } from './server-clock.ts'

type AccessToken = AccessTokenAnswer['accessToken']

type EarlyRefresh = { clientToken: string; response: Response; receivedAt: number }

declare global {
  /** The refresh that the script in index.html began; null where another tab was refreshing, or no answer came. */
  var earlyRefresh: Promise<EarlyRefresh | null> | undefined
}

/** The key stored in this browser from a session's first token until the session is known to be closed. */
const HAD_SESSION = 'had-session'

/** `unknown` until the server has answered, or the page has said that there is none. */
let session: 'unknown' | 'none' | 'live' = 'unknown'
let token: AccessToken | null = null
let refreshing: Promise<string | null> | null = null

const sessionLost = createEmitter()
const sessionKnown = createEmitter()

/** Calls a listener when a live session turns out to be closed. Returns the function that unsubscribes it. */
export const onSessionLost = sessionLost.subscribe

/** Calls a listener whenever the server has answered whether there is a session. Returns the function that unsubscribes it. */
export const onSessionKnown = sessionKnown.subscribe

/**
 * Whether this browser had a session when it last knew. Then it asks for a token even on a page that came without the
 * session's cookie.
 */
export function hadSession(): boolean {
  return localStore.read(HAD_SESSION) !== null
}

/** Drops the token. `unknown` makes the next call ask the server again; with `none` calls are a visitor's. */
export function resetToken(next: 'unknown' | 'none'): void {
  session = next
  token = null
  if (next !== 'none') return
  localStore.remove(HAD_SESSION)
  // Now the page shows what is for visitors.
  globalThis.document?.documentElement.removeAttribute('data-session')
}

/**
 * Returns a valid token for the next call, or null for a visitor. Refreshes it when it is absent, about to expire, or equal
 * to `refused`, the token that the server has just refused; concurrent calls share one refresh.
 * Throws CallError: UNAUTHORIZED when a live session was closed, or the error of the refresh.
 */
export async function freshToken(refused?: string): Promise<string | null> {
  if (session === 'none') return null
  if (token && token.token !== refused && !expiresSoon(token)) return token.token
  refreshing ??= refresh().finally(() => {
    refreshing = null
  })
  return refreshing
}

function expiresSoon({ expiresAt }: AccessToken): boolean {
  return expiresAt - serverNow() < TOKEN_REFRESH_SECONDS
}

async function refresh(): Promise<string | null> {
  try {
    const { answer, headers, receivedAt } = await askForToken()
    setServerClock(headers, receivedAt)
    token = answer.accessToken
    session = 'live'
    localStore.write(HAD_SESSION, 'yes')
    sessionKnown.emit()
    return token.token
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return handleRefusal(error)
    throw error
  }
}

/** Takes over the refresh that the page began, where its answer came; else sends one. */
async function askForToken() {
  const body = { clientToken: await clientToken() }
  const name = 'PATCH /sessions/current'
  const early = await takeEarlyRefresh(body.clientToken)
  if (early) {
    const { response: answered, receivedAt } = early
    return { ...(await send(name, { body }, { answered })), receivedAt }
  }
  const sent = await oneTabAtATime(() => send(name, { body }, {}))
  return { ...sent, receivedAt: Date.now() }
}

/** Throws `error` if the refused session was live in this page; else this is a visitor. */
function handleRefusal(error: CallError): null {
  const wasLive = session === 'live'
  resetToken('none')
  if (!wasLive) {
    sessionKnown.emit()
    return null
  }
  sessionLost.emit()
  throw error
}

/** A refresh rotates the cookie. Tabs take turns, so that the server need not tell two of them from a thief. */
async function oneTabAtATime<T>(action: () => Promise<T>): Promise<T> {
  // Locks need a secure context, and a tab that hangs with the lock must not block the others: then go without.
  if (!globalThis.navigator?.locks) return action()
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  let started = false
  try {
    return await navigator.locks.request('session', { signal }, () => {
      started = true
      return action()
    })
  } catch (error) {
    if (started) throw error
    return action()
  }
}

/**
 * Returns, once, the answer to the refresh that the page began before its scripts were there, and when it came in
 * milliseconds of Date.now(); null where it began none, got none, or asked as another browser than `clientToken`.
 */
async function takeEarlyRefresh(clientToken: string): Promise<EarlyRefresh | null> {
  const early = (await globalThis.earlyRefresh) ?? null
  globalThis.earlyRefresh = undefined
  return early?.clientToken === clientToken ? early : null
}
