import { REQUEST_TIMEOUT_MS, TOKEN_REFRESH_SECONDS } from '../../contract/constants.ts'
import type { AccessTokenAnswer } from '../../contract/fields.ts'
import { localStore } from '../browser/storage.ts'
import { CallError } from './call-error.ts'
import { clientToken } from './device.ts'
import { send } from './send.ts'
import { serverNow, setServerClock } from './server-clock.ts'

type AccessToken = AccessTokenAnswer['accessToken']

/** Stands in this browser from a session's first token until it is known to be over. */
const MARK = 'had-session'

/** `unknown` until the server was asked, or the page said there is none. */
let session: 'unknown' | 'none' | 'live' = 'unknown'
let token: AccessToken | null = null
let renewing: Promise<string | null> | null = null
let tellLost: () => void = () => {}
let tellKnown: () => void = () => {}

/** Registers what to do when a live session turns out to be closed. One listener: the viewer. */
export function onSessionLost(listener: () => void): void {
  tellLost = listener
}

/** Registers what to do whenever the server has told whether there is a session. One listener: the viewer. */
export function onSessionKnown(listener: () => void): void {
  tellKnown = listener
}

/**
 * Whether this browser had a session when it last knew: worth asking for a token then, also on a page that came without
 * the session's cookie.
 */
export function hadSession(): boolean {
  return localStore.read(MARK) !== null
}

/** Forgets the token. `unknown` makes the next call ask the server again, `none` makes calls go out as a visitor's. */
export function forgetToken(next: 'unknown' | 'none'): void {
  session = next
  token = null
  if (next === 'none') localStore.remove(MARK)
}

/**
 * A token good for the next call, or null for a visitor. Renews it when absent, about to expire, or equal to
 * `refused` (the one a call has just been refused with); renewals asked for at once share one request.
 * Throws CallError: UNAUTHORIZED when a live session is closed, or whatever kept the renewal from being answered.
 */
export async function freshToken(refused?: string): Promise<string | null> {
  if (session === 'none') return null
  if (token && token.token !== refused && !expiresSoon(token)) return token.token
  renewing ??= oneTabAtATime(renew).finally(() => {
    renewing = null
  })
  return renewing
}

function expiresSoon({ expiresAt }: AccessToken): boolean {
  return expiresAt - serverNow() < TOKEN_REFRESH_SECONDS
}

async function renew(): Promise<string | null> {
  try {
    const body = { clientToken: await clientToken() }
    const { answer, headers } = await send('PATCH /sessions/current', { body }, {})
    setServerClock(headers)
    token = answer.accessToken
    session = 'live'
    localStore.write(MARK, 'yes')
    tellKnown()
    return token.token
  } catch (error) {
    if (error instanceof CallError && error.status === 401) return closed(error)
    throw error
  }
}

function closed(error: CallError): null {
  const wasLive = session === 'live'
  forgetToken('none')
  if (!wasLive) {
    tellKnown()
    return null
  }
  tellLost()
  throw error
}

/** The server rotates the cookie as it renews; tabs taking turns spare it from telling two of them from a thief. */
async function oneTabAtATime<T>(action: () => Promise<T>): Promise<T> {
  // Locks need a secure context; a tab that hangs with the lock must not hold up the others.
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
