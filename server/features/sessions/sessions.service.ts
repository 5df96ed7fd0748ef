import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { AccessTokenAnswer } from '../../../contract/fields.ts'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { batchCalls } from '../../kernel/db/batch-calls.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import type { Authenticator, Viewer } from '../../kernel/http/authenticate.ts'
import { widestNetworkOf } from '../../kernel/limits/network.ts'
import { writeRefusal } from '../site-state/write-refusal.ts'
import { createTokenReader, signAccessToken } from './access-token.ts'
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
import { insertKnownClient } from './known-clients.repository.ts'
import {
  deleteSession,
  insertSession,
  lockSession,
  type NewSession,
  type Reader,
  rotateSecret,
  selectLikedPosts,
  selectLiveSessions,
  touchSession,
} from './sessions.repository.ts'

const RECENT_MAX = 10_000
const RECENT_MS = 5 * 60_000

type Options = {
  secret: string
  /** Of the database alone: a backup with the secret cannot sign access tokens. */
  storedKey: Buffer
  accessTokenSeconds: number
  isHttps: boolean
}

export type Sessions = ReturnType<typeof createSessions>

export function createSessions({ secret, storedKey, accessTokenSeconds, isHttps }: Options) {
  const ownKey = createHmac('sha256', storedKey).update(deriveKey(secret, 'access-token'))
  const tokens = { key: createSecretKey(ownKey.digest()), seconds: accessTokenSeconds }
  const clientKey = deriveKey(secret, 'client-token')
  const cookie = sessionCookie(isHttps)

  return {
    cookieName: cookie.name,

    /** `contact` is whom blocked people may ask. */
    authenticator(db: Db, contact: string | undefined): Omit<Authenticator, 'isModerator'> {
      // Every call is checked, and calls that come together share one query.
      const find = batchCalls((viewers: Viewer[]) => selectLiveSessions(db, viewers))
      const findLiked = batchCalls((readers: Reader[]) => selectLikedPosts(db, readers), {
        gathers: true,
      })
      const wereLive = new LRUCache<string, true>({ max: RECENT_MAX, ttl: RECENT_MS })
      return {
        readToken: createTokenReader(tokens),
        findLikedPosts: (viewer, postIds) => findLiked({ viewer, postIds }),
        async findSession(viewer) {
          const session = await find(viewer)
          if (!session) return null
          const { isNewcomer } = session
          const refusal = writeRefusal(session, contact)
          if (!refusal && !isNewcomer && !wereLive.has(viewer.sessionId)) {
            wereLive.set(viewer.sessionId, true)
          }
          return { isNewcomer, writeRefusal: refusal }
        },
        wasLive: ({ sessionId }) => wereLive.has(sessionId),
      }
    },

    /** The hash of a clientToken, which is what the database stores. */
    hashClient(clientToken: string): Buffer {
      return createHmac('sha256', clientKey).update(clientToken).digest()
    },

    /**
     * Three bytes of a keyed hash of the network of one subscriber: enough to know it again. Null
     * for the machine's own addresses, which are those of an untrusted proxy.
     */
    hashNetwork(ip: string): Buffer | null {
      const network = widestNetworkOf(ip)
      if (/^(127\.|0:0:0::|unknown$)/.test(network)) return null
      return createHmac('sha256', clientKey).update(`network ${network}`).digest().subarray(0, 3)
    },

    /** The caller sets the cookie of the session once the transaction has committed. */
    async open(tx: Queryable, { userId, ...session }: Omit<NewSession, 'id' | 'secretHash'>) {
      const fresh = newSessionSecret()
      const secretHash = hashSecret(fresh.secret)
      const closedOldest = await insertSession(tx, { id: fresh.id, userId, secretHash, ...session })
      const isNewClient = await insertKnownClient(tx, { userId, clientHash: session.clientHash })
      const viewer = { userId, sessionId: fresh.id }
      return { secret: fresh, viewer, isKnownClient: !isNewClient, closedOldest }
    },

    issueToken(viewer: Viewer): AccessTokenAnswer {
      return signAccessToken(viewer, tokens)
    },

    readCookie(request: FastifyRequest): SessionSecret | null {
      return parseSessionCookie(request.cookies[cookie.name])
    },

    /** The cookie of a session that is `age` seconds old expires when the session does. */
    setCookie(reply: FastifyReply, fresh: SessionSecret, age = 0): void {
      const maxAge = Math.min(IDLE_SECONDS, Math.floor(LIFETIME_SECONDS - age))
      reply.setCookie(cookie.name, formatSessionCookie(fresh), { ...cookie.options, maxAge })
    },

    clearCookie(reply: FastifyReply): void {
      reply.clearCookie(cookie.name, cookie.options)
    },
  }
}

/** A refresh rotates a secret that is older than this. */
const ROTATE_AFTER_SECONDS = 600
/** The previous secret stays valid so long, for a request that a second tab has already sent. */
const GRACE_SECONDS = 60

type Refreshed = {
  userId: string
  isCopied: false
  /** The new secret for the cookie and the session's age in seconds, if the secret was rotated. */
  rotated: { secret: SessionSecret; age: number } | null
}

/** An older secret was presented, so the session has been closed. */
type Copied = { userId: string; isCopied: true }

type Client = {
  clientHash: Buffer
  networkHash: Buffer | null
  /** Charges the rate limit of the session, once the cookie is known to be its own. */
  charge: (sessionId: string) => Promise<void>
}

/**
 * Checks a session cookie that is exchanged for a new access token; returns null when it is not
 * valid. The current secret is valid, and so is the previous one: until the current one was seen,
 * because the response that contained it may have been lost, and for 60 s, because two tabs may
 * refresh at once. An older secret means that somebody has a copy of the cookie, so the session is
 * closed. A cookie of another client closes nothing. Rejects as `charge` does, with nothing
 * changed.
 */
export function refreshSession(
  db: Db,
  presented: SessionSecret,
  { clientHash, networkHash, charge }: Client,
): Promise<Refreshed | Copied | null> {
  return db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, presented.id)
    if (!session || !timingSafeEqual(session.client_hash, clientHash)) return null
    const hash = hashSecret(presented.secret)
    const userId = session.user_id

    const isCurrent = timingSafeEqual(session.secret_hash, hash)
    const isPrevious =
      session.previous_hash !== null && timingSafeEqual(session.previous_hash, hash)
    const inGrace = session.secret_age <= GRACE_SECONDS
    if (!isCurrent && !(isPrevious && (!session.seen || inGrace))) {
      await deleteSession(tx, { sessionId: presented.id, userId })
      return { userId, isCopied: true }
    }
    await charge(presented.id)
    // A previous secret after its grace period: the response with the current one was lost.
    const isDue = isCurrent ? session.secret_age > ROTATE_AFTER_SECONDS : !inGrace
    if (isDue) {
      const secret = newSessionSecret(presented.id)
      await rotateSecret(tx, presented.id, {
        next: hashSecret(secret.secret),
        presented: hash,
        networkHash,
      })
      return { userId, isCopied: false, rotated: { secret, age: session.age } }
    }
    await touchSession(tx, presented.id, isCurrent)
    return { userId, isCopied: false, rotated: null }
  })
}
