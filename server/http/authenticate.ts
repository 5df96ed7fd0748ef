import type { FastifyRequest } from 'fastify'
import type { Access } from '../../contract/endpoint.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { AppError } from './app-error.ts'

/** Who calls: a user by one of their live sessions. */
export type Viewer = { userId: string; sessionId: string }

/** What the sessions feature gives to the HTTP layer, which knows no feature. */
export type Authenticator = {
  /** Whose token it is, by its signature and expiry alone; null for a bad one. */
  readToken(token: string): Viewer | null
  /** Whether the session is live, asked of the database. */
  isLive(viewer: Viewer): Promise<boolean>
}

/**
 * Finds out who calls and charges the limit on all calls: a user's own, else the visitor's address. Throws UNAUTHORIZED
 * for a bad or expired token or a closed session, and for a visitor where `access` is `user`.
 */
export async function resolveViewer(
  request: FastifyRequest,
  access: Access,
  { auth, limits }: { auth: Authenticator; limits: Limits },
): Promise<Viewer | null> {
  const header = access === 'cookie' ? undefined : request.headers.authorization
  const viewer = header === undefined ? null : auth.readToken(bearerOf(header))
  if (viewer) await limits.userCalls.charge(viewer.userId)
  else await limits.visitorCalls.chargeNetwork(request.ip)

  if (header === undefined && access !== 'user') return null
  if (viewer && (await auth.isLive(viewer))) return viewer
  throw new AppError('UNAUTHORIZED')
}

function bearerOf(header: string): string {
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? ''
}
