import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Access, Endpoint } from '../../../contract/endpoint.ts'
import { AppError } from '../errors/app-error.ts'
import type { Limits } from '../limits/limits.ts'
import { USER_CALLS, VISITOR_CALLS } from './call-limits.ts'

export type Viewer = {
  userId: string
  sessionId: string
  /** Whether the account is less than a day old. Known once the session was checked. */
  isNewcomer?: boolean
  /** Where only the statement that publishes checks the session: says why it did not. */
  checkSession?: () => Promise<unknown>
}

export type LiveSession = {
  isNewcomer: boolean
  /** What a call that publishes is refused with; null if the viewer may write. */
  writeRefusal: AppError | null
}

export type Authenticator = {
  /** Judges a token by its signature and expiry alone; null for a bad one. */
  readToken(token: string): Viewer | null
  findSession(viewer: Viewer): Promise<LiveSession | null>
  /** Whether the session is live, in a smaller statement than `findSession`'s: for cached reads. */
  isLive(viewer: Viewer): Promise<boolean>
  /** Whether the session was live within some minutes, of a user who might write as any other. */
  wasLive(viewer: Viewer): boolean
  isModerator(viewer: Viewer): Promise<boolean>
}

/**
 * Returns who calls, null for a visitor, and charges the limit on all calls. Throws UNAUTHORIZED or
 * NOT_FOUND without the `access` that the call needs. The session is not checked yet.
 */
export async function identifyViewer(
  request: FastifyRequest,
  access: Access,
  { auth, limits }: { auth: Authenticator; limits: Limits },
): Promise<Viewer | null> {
  const hasToken = access !== 'cookie' && request.headers.authorization !== undefined
  const viewer = hasToken ? auth.readToken(tokenOf(request.headers)) : null
  await limits.charge([
    viewer ? { limit: USER_CALLS, key: viewer.userId } : { limit: VISITOR_CALLS, ip: request.ip },
  ])

  if (viewer) return viewer
  if (hasToken || access === 'user') throw new AppError('UNAUTHORIZED')
  if (access === 'moderator') throw new AppError('NOT_FOUND')
  return null
}

/** Checks that the session is live, and may do what the call does. Throws otherwise. */
export async function requireSession(
  viewer: Viewer,
  { access, publishes }: Pick<Endpoint, 'access' | 'publishes'>,
  auth: Authenticator,
): Promise<LiveSession> {
  const isForModerators = access === 'moderator'
  const [session, isAllowed] = await Promise.all([
    auth.findSession(viewer),
    !isForModerators || auth.isModerator(viewer),
  ])
  if (!session) throw new AppError('UNAUTHORIZED')
  if (!isAllowed) throw new AppError('NOT_FOUND')
  if (publishes && session.writeRefusal) throw session.writeRefusal
  return session
}

/** Refuses a write that another account has begun: the client may have changed accounts since. */
export function requireSameUser(headers: IncomingHttpHeaders, { userId }: Viewer): void {
  const startedBy = headers['x-user']
  if (startedBy !== undefined && startedBy !== userId) throw new AppError('OTHER_ACCOUNT')
}

export function tokenOf({ authorization = '' }: IncomingHttpHeaders): string {
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
}
