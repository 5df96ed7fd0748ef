import { API_PREFIX, REQUEST_TIMEOUT_MS } from '../../contract/constants.ts'
import { cameWithoutCookie } from '../platform/page-settings.ts'
import { CLIENT_TOKEN_KEY, HAD_SESSION_KEY } from '../platform/stored-keys.ts'
import { withLock } from '../platform/tabs.ts'

export type EarlyRefresh = {
  clientToken: string | undefined
  response: Response
  receivedAt: number
}

declare global {
  /** The early refresh; null if another tab was refreshing, or if no answer came. */
  var earlyRefresh: Promise<EarlyRefresh | null> | undefined
}

/** The lock under which tabs refresh the token one at a time. */
export const SESSION_LOCK = 'session'
const METHOD = 'PATCH'
const PATH = '/sessions/current'
export const REFRESH = `${METHOD} ${PATH}` as const

/** Requests a user's access token while the scripts load, unless another tab has the lock. */
export function beginEarlyRefresh(): void {
  const clientToken = localStorage.getItem(CLIENT_TOKEN_KEY) || undefined
  const isVisitor = cameWithoutCookie() && !localStorage.getItem(HAD_SESSION_KEY)
  if (isVisitor) return
  const asked = withLock(SESSION_LOCK, { ifAvailable: true }, (lock) =>
    lock ? refreshWith(clientToken) : null,
  )
  globalThis.earlyRefresh = asked.catch(() => null)
}

async function refreshWith(clientToken: string | undefined): Promise<EarlyRefresh> {
  const response = await fetch(API_PREFIX + PATH, {
    method: METHOD,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientToken }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  // Reads the whole body, so that a truncated response fails here.
  const text = await response.text()
  return { clientToken, response: new Response(text, response), receivedAt: Date.now() }
}

/** Returns the early refresh once; null if it failed, or had another `clientToken`. */
export async function takeEarlyRefresh(
  clientToken: string | undefined,
): Promise<EarlyRefresh | null> {
  const early = (await globalThis.earlyRefresh) ?? null
  globalThis.earlyRefresh = undefined
  return early && early.clientToken === clientToken ? early : null
}
