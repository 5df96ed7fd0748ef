import { jwtVerify, SignJWT } from 'jose'
import type { AccessTokenAnswer } from '../../contract/fields.ts'
import type { Viewer } from '../http/viewer.ts'

const ALGORITHM = 'HS256'

/** Signs an access token (RFC 7519) for a session, good for `seconds`. */
export async function signAccessToken(
  { userId, sessionId }: Viewer,
  { key, seconds }: { key: Buffer; seconds: number },
): Promise<AccessTokenAnswer> {
  const expiresAt = Math.floor(Date.now() / 1000) + seconds
  const token = await new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: ALGORITHM })
    .setSubject(userId)
    .setExpirationTime(expiresAt)
    .sign(key)
  return { accessToken: { token, expiresAt } }
}

/** Whose token it is, by signature and expiry; null for any other string. */
export async function readAccessToken(token: string, key: Buffer): Promise<Viewer | null> {
  try {
    const { payload } = await jwtVerify(token, key, { algorithms: [ALGORITHM] })
    const { sub, sid } = payload
    return sub && typeof sid === 'string' ? { userId: sub, sessionId: sid } : null
  } catch {
    return null
  }
}
