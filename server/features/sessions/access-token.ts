import { createHmac, type KeyObject } from 'node:crypto'
import type { AccessTokenAnswer } from '../../../contract/fields.ts'
import { isSameSecret } from '../../kernel/config/app-secret.ts'
import type { Viewer } from '../../kernel/http/authenticate.ts'

/** User, session, expiry in unix seconds, and an HMAC-SHA-256 of these: opaque to clients. */
export function signAccessToken(
  { userId, sessionId }: Viewer,
  { key, seconds }: { key: KeyObject; seconds: number },
): AccessTokenAnswer {
  const expiresAt = Math.floor(Date.now() / 1000) + seconds
  const claims = `${userId}.${sessionId}.${expiresAt}`
  return { accessToken: { token: `${claims}.${macOf(claims, key)}`, expiresAt } }
}

/** Returns the viewer of a valid token that has not expired. */
export function readAccessToken(token: string, key: KeyObject): Viewer | null {
  const end = token.lastIndexOf('.')
  const right = macOf(token.slice(0, Math.max(0, end)), key)
  if (!isSameSecret(token.slice(end + 1), right)) return null
  const [userId = '', sessionId = '', expiresAt = ''] = token.split('.')
  return Number(expiresAt) > Date.now() / 1000 ? { userId, sessionId } : null
}

function macOf(claims: string, key: KeyObject): string {
  return createHmac('sha256', key).update(claims).digest('base64url')
}
