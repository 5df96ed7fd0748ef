import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AccessTokenAnswer } from '../../../contract/fields.ts'
import { deriveKey, isSameSecret } from '../../kernel/config/app-secret.ts'
import type { Viewer } from '../../kernel/http/route.ts'

/** `seconds`: how long a token lives. */
type TokenOptions = { key: KeyObject; seconds: number }

/** `storedKey` is of the database alone: a backup with the secret cannot sign access tokens. */
export function accessTokenKey(secret: string, storedKey: Buffer): KeyObject {
  const mac = createHmac('sha256', storedKey).update(deriveKey(secret, 'access-token'))
  return createSecretKey(mac.digest())
}

/** User, session, expiry in unix seconds, and an HMAC-SHA-256 of these: opaque to clients. */
export function signAccessToken(
  { userId, sessionId }: Viewer,
  { key, seconds }: TokenOptions,
): AccessTokenAnswer {
  const expiresAt = Math.floor(Date.now() / 1000) + seconds
  const claims = `${userId}.${sessionId}.${expiresAt}`
  return { accessToken: { token: `${claims}.${macOf(claims, key)}`, expiresAt } }
}

type Claims = { viewer: Viewer; expiresAt: number }

/** Tokens that are used many times in their five minutes: each HMAC costs a tenth of a read. */
const KNOWN_MAX = 10_000

/** A node whose clock is this much ahead may have signed a token. */
const CLOCK_DIFFERENCE_SECONDS = 60

/**
 * Makes the function that returns the viewer of a valid token that has not expired. A token that
 * expires later than one which is signed now is refused.
 */
export function createTokenReader({
  key,
  seconds,
}: TokenOptions): (token: string) => Viewer | null {
  const known = new LRUCache<string, Claims>({ max: KNOWN_MAX })

  function remember(token: string): Claims | null {
    const claims = readClaims(token, key)
    if (claims) known.set(token, claims)
    return claims
  }

  return (token) => {
    const claims = known.get(token) ?? remember(token)
    const left = (claims?.expiresAt ?? 0) - Date.now() / 1000
    return claims && left > 0 && left <= seconds + CLOCK_DIFFERENCE_SECONDS ? claims.viewer : null
  }
}

function readClaims(token: string, key: KeyObject): Claims | null {
  const end = token.lastIndexOf('.')
  const right = macOf(token.slice(0, Math.max(0, end)), key)
  if (!isSameSecret(token.slice(end + 1), right)) return null
  const [userId = '', sessionId = '', expiresAt = ''] = token.split('.')
  return { viewer: { userId, sessionId }, expiresAt: Number(expiresAt) }
}

function macOf(claims: string, key: KeyObject): string {
  return createHmac('sha256', key).update(claims).digest('base64url')
}
