import type { FastifyRequest } from 'fastify'
import type { Access } from '../../contract/endpoint.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { AppError } from './app-error.ts'

/** A signed-in user, and the live session that their token belongs to. */
export type Viewer = { userId: string; sessionId: string }

/** How tokens are checked; the sessions feature implements it. */
export type Authenticator = {
  /** Returns whose token it is, by its signature and expiry alone; null for a bad one. */
  readToken(token: string): Viewer | null
  /** Whether the session is live, according to the database. */
  isLive(viewer: Viewer): Promise<boolean>
}

/**
 * Returns who calls according to their token, null for a visitor, and charges the rate limit on all calls: a user's own,
 * otherwise that of the visitor's address. Throws UNAUTHORIZED for a bad or expired token, and for a visitor where
 * `access` is `user`; TOO_MANY_REQUESTS over the limit. The session is not checked yet: see `requireLiveSession`.
 */
export async function identifyViewer(
  request: FastifyRequest,
  access: Access,
  { auth, limits }: { auth: Authenticator; limits: Limits },
): Promise<Viewer | null> {
  const header = access === 'cookie' ? undefined : request.headers.authorization
  const viewer = header === undefined ? null : auth.readToken(bearerOf(header))
  if (viewer) await limits.userCalls.charge(viewer.userId)
  else await limits.visitorCalls.chargeNetwork(request.ip)

  if (!viewer && (header !== undefined || access === 'user')) throw new AppError('UNAUTHORIZED')
  return viewer
}

/** Throws UNAUTHORIZED when the viewer's session was closed. */
export async function requireLiveSession(viewer: Viewer, auth: Authenticator): Promise<void> {
  if (!(await auth.isLive(viewer))) throw new AppError('UNAUTHORIZED')
}

function bearerOf(header: string): string {
  return /^Bearer +(\S+)$/i.exec(header)?.[1] ?? ''
}
