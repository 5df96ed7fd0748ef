import { createHmac, createSecretKey } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccessTokenAnswer, Device } from '../../contract/fields.ts'
import { batchCalls } from '../db/batch-calls.ts'
import type { Db, Queryable } from '../db/database.ts'
import type { Authenticator, Viewer } from '../http/authenticate.ts'
import { deriveKey } from '../start/app-secret.ts'
import { readAccessToken, signAccessToken } from './access-token.ts'
import {
  formatSessionCookie,
  hashSecret,
  IDLE_SECONDS,
  LIFETIME_SECONDS,
  newSessionSecret,
  parseSessionCookie,
  type SessionSecret,
  sessionCookie,
} from './cookie.ts'
import { areSessionsLive, insertKnownClient, insertSession } from './sessions.repository.ts'

export {
  countExpired,
  deleteAllSessions,
  deleteDeadSessions,
  deleteOtherSessions,
  isClientKnown,
} from './sessions.repository.ts'

type Options = { secret: string; accessTokenSeconds: number; isHttps: boolean }
type OpenedSession = {
  secret: SessionSecret
  viewer: Viewer
  /** Whether the client has signed in as the user before. */
  isKnownClient: boolean
}

/** The door of the sessions feature: tokens, cookies, and opening a session for who proved an e-mail. */
export type Sessions = ReturnType<typeof createSessions>

export function createSessions({ secret, accessTokenSeconds, isHttps }: Options) {
  const tokenKey = createSecretKey(deriveKey(secret, 'access-token'))
  const clientKey = deriveKey(secret, 'client-token')
  const cookie = sessionCookie(isHttps)

  return {
    cookieName: cookie.name,

    authenticator(db: Db): Authenticator {
      return {
        readToken: (token) => readAccessToken(token, tokenKey),
        // Calls that come together ask together: every call is checked, not every call pays a round trip.
        isLive: batchCalls((viewers) => areSessionsLive(db, viewers)),
      }
    },

    /** What is stored of a clientToken. */
    hashClient(clientToken: string): Buffer {
      return createHmac('sha256', clientKey).update(clientToken).digest()
    },

    /** Opens a session; its secret goes into the cookie once the transaction has committed. */
    async open(
      tx: Queryable,
      { userId, ...session }: { userId: string; clientHash: Buffer; device: Device },
    ): Promise<OpenedSession> {
      const fresh = newSessionSecret()
      const secretHash = hashSecret(fresh.secret)
      await insertSession(tx, { id: fresh.id, userId, secretHash, ...session })
      const isNewClient = await insertKnownClient(tx, { userId, clientHash: session.clientHash })
      const viewer = { userId, sessionId: fresh.id }
      return { secret: fresh, viewer, isKnownClient: !isNewClient }
    },

    issueToken(viewer: Viewer): AccessTokenAnswer {
      return signAccessToken(viewer, { key: tokenKey, seconds: accessTokenSeconds })
    },

    readCookie(request: FastifyRequest): SessionSecret | null {
      return parseSessionCookie(request.cookies[cookie.name])
    },

    /** Sets the cookie of a session that has lived `age` seconds: it ends when the session would. */
    setCookie(reply: FastifyReply, fresh: SessionSecret, age = 0): void {
      const maxAge = Math.min(IDLE_SECONDS, Math.floor(LIFETIME_SECONDS - age))
      reply.setCookie(cookie.name, formatSessionCookie(fresh), { ...cookie.options, maxAge })
    },

    clearCookie(reply: FastifyReply): void {
      reply.clearCookie(cookie.name, cookie.options)
    },
  }
}
