import {
  CLIENT_TOKEN_MAX,
  REQUEST_TIMEOUT_MS,
  TOKEN_REFRESH_SECONDS,
} from '../../contract/constants.ts'
import type { AccessTokenAnswer } from '../../contract/fields.ts'
import { createEmitter } from '../platform/atom.ts'
import { pageFlags } from '../platform/flags.ts'
import { localStore } from '../platform/storage.ts'
import { CLIENT_TOKEN_KEY, HAD_SESSION_KEY } from '../platform/stored-keys.ts'
import { withLock } from '../platform/tabs.ts'
import { CallError } from './call-error.ts'
import { REFRESH, SESSION_LOCK, takeEarlyRefresh } from './early-refresh.ts'
import { send } from './send.ts'
import { serverNow } from './server-clock.ts'

type AccessToken = AccessTokenAnswer['accessToken']

const ACCEPTED = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${CLIENT_TOKEN_MAX}}$`, 'u')

/** No answer, which has the status 0, and a failure of the server end no session. */
const REFUSALS = [400, 401]

let session: 'unknown' | 'none' | 'live' = 'unknown'
let token: AccessToken | null = null
let refreshing: Promise<string | null> | null = null

const sessionLost = createEmitter<CallError>()
const sessionKnown = createEmitter()

export const onSessionLost = sessionLost.subscribe

export const onSessionKnown = sessionKnown.subscribe

export function hadSession(): boolean {
  return localStore.read(HAD_SESSION_KEY) !== null
}

/** Stores that this browser has a session. */
export function rememberSession(): void {
  if (!hadSession()) localStore.write(HAD_SESSION_KEY, 'yes')
}

/** Forgets the token. After `unknown` the next call asks the server; `none` means a visitor. */
export function resetToken(next: 'unknown' | 'none'): void {
  session = next
  token = null
  if (next !== 'none') return
  localStore.remove(HAD_SESSION_KEY)
  if (typeof document !== 'undefined') delete pageFlags().session
}

/**
 * Returns a valid token; null for a visitor. `refused` is a token that the server has refused. With
 * `atOnce` a token that expires soon is not refreshed. Throws CallError: UNAUTHORIZED if a live
 * session was closed.
 */
export async function freshToken(refused?: string, atOnce?: boolean): Promise<string | null> {
  if (session === 'none') return null
  if (token && token.token !== refused && (atOnce || !expiresSoon(token))) return token.token
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
    token = (await askForToken()).accessToken
    session = 'live'
    rememberSession()
    sessionKnown.emit()
    return token.token
  } catch (error) {
    if (error instanceof CallError && REFUSALS.includes(error.status)) return handleRefusal(error)
    throw error
  }
}

export function storedClientToken(): string | undefined {
  const stored = localStore.read(CLIENT_TOKEN_KEY) ?? ''
  return ACCEPTED.test(stored) ? stored : undefined
}

async function askForToken() {
  const clientToken = storedClientToken()
  const body = clientToken ? { clientToken } : {}
  const answered = await takeEarlyRefresh(clientToken)
  const ask = () => send(REFRESH, { body }, { answered })
  return answered ? ask() : oneTabAtATime(ask)
}

function handleRefusal(error: CallError): null {
  const wasLive = session === 'live'
  const isClosed = error.code === 'SESSION_CLOSED' && hadSession()
  if (wasLive || isClosed) sessionLost.emit(error)
  resetToken('none')
  if (wasLive) throw error
  sessionKnown.emit()
  return null
}

/** Lets one tab refresh at a time: the server could not distinguish two tabs from a thief. */
async function oneTabAtATime<T>(action: () => Promise<T>): Promise<T> {
  // A tab that hangs with the lock must not block the others.
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  let started = false
  try {
    return await withLock(SESSION_LOCK, { signal }, () => {
      started = true
      return action()
    })
  } catch (error) {
    if (started) throw error
    return action()
  }
}
