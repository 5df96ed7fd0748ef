import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { ERRORS } from '../../../contract/errors.ts'
import type { AccessTokenAnswer, Device } from '../../../contract/fields.ts'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { BatchedCalls } from '../../kernel/db/batch-calls.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Authenticator, Viewer } from '../../kernel/http/route.ts'
import { hashNetwork } from '../../kernel/limits/network.ts'
import { writeRefusal } from '../site-state/write-refusal.ts'
import { accessTokenKey, createTokenReader, signAccessToken } from './access-token.ts'
import {
  browserCookie,
  formatSessionCookie,
  hashSecret,
  IDLE_SECONDS,
  LIFETIME_SECONDS,
  newSessionSecret,
  parseBrowserCookie,
  parseSessionCookie,
  randomSecret,
  type SessionSecret,
  sessionCookie,
} from './cookie.ts'
import {
  insertKnownClient,
  removeClientOf,
  removeOtherClients,
} from './known-clients.repository.ts'
import {
  closeSessions,
  deleteSession,
  insertSession,
  isSessionOpen,
  lockOwner,
  lockSession,
  noteLostToken,
  rotateSecret,
  selectClosedReason,
  selectLiveSessions,
  selectLiveUsers,
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
  const tokens = { key: accessTokenKey(secret, storedKey), seconds: accessTokenSeconds }
  const clientKey = deriveKey(secret, 'client-token')
  const cookie = sessionCookie(isHttps)
  const ofBrowser = browserCookie(isHttps)
  const hashToken = (clientToken: string) =>
    createHmac('sha256', clientKey).update(clientToken).digest()
  const readBrowser = (request: FastifyRequest) =>
    parseBrowserCookie(request.cookies[ofBrowser.name])

  return {
    cookieName: cookie.name,

    /** `contact` is whom blocked people may ask. */
    authenticator(db: Db, contact: string | undefined): Omit<Authenticator, 'isModerator'> {
      // Every call is checked, and calls that come together share one query.
      const checks = new BatchedCalls((viewers: Viewer[]) => selectLiveSessions(db, viewers))
      const liveChecks = new BatchedCalls(async (viewers: Viewer[]) => {
        const users = await selectLiveUsers(db, [
          ...new Set(viewers.map(({ sessionId }) => sessionId)),
        ])
        return viewers.map(({ sessionId, userId }) => users.get(sessionId) === userId)
      })
      const wereLive = new LRUCache<string, true>({ max: RECENT_MAX, ttl: RECENT_MS })
      return {
        readToken: createTokenReader(tokens),
        isLive: (viewer) => liveChecks.call(viewer),
        async findSession(viewer) {
          const session = await checks.call(viewer)
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

    /** The hash of a client, which is its clientToken with its browser's cookie, if it has one. */
    hashClient(clientToken: string, request: FastifyRequest): Buffer {
      const browser = readBrowser(request)
      const tokenHash = hashToken(clientToken)
      return browser === undefined ? tokenHash : joinHashes(tokenHash, hashSecret(browser))
    },

    hashNetwork: (ip: string): Buffer | null => hashNetwork(ip, clientKey),

    /** What a refresh proves about the client. */
    readProof(clientToken: string | undefined, request: FastifyRequest): Proof {
      const browser = readBrowser(request)
      return {
        tokenHash: clientToken === undefined ? undefined : hashToken(clientToken),
        browserHash: browser === undefined ? undefined : hashSecret(browser),
      }
    },

    /** The cookie that a browser has, or gets when it signs in. */
    browserOf: (request: FastifyRequest): string => readBrowser(request) ?? randomSecret(),

    /** The caller sets the cookies once the transaction has committed. */
    async open(tx: Queryable, { userId, clientToken, browser, networkHash, device }: Opening) {
      const fresh = newSessionSecret()
      const clientHash = hashToken(clientToken)
      const browserHash = hashSecret(browser)
      const closedOldest = await insertSession(tx, {
        id: fresh.id,
        userId,
        secretHash: hashSecret(fresh.secret),
        clientHash,
        browserHash,
        networkHash,
        device,
      })
      const isNewClient = await insertKnownClient(tx, {
        userId,
        clientHash: joinHashes(clientHash, browserHash),
      })
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

    setBrowser(reply: FastifyReply, browser: string): void {
      reply.setCookie(ofBrowser.name, browser, ofBrowser.options)
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

/** For a session that another device of its user has closed. */
const BY_ANOTHER_DEVICE = ERRORS.SESSION_CLOSED.message

type Refreshed = {
  state: 'live'
  userId: string
  /** The new secret for the cookie and the session's age in seconds, if the secret was rotated. */
  rotated: { secret: SessionSecret; age: number } | null
}

/** An older secret was presented, so the session has been closed. */
type Copied = { state: 'copied'; userId: string }

/** The session was closed by somebody before. */
type Closed = { state: 'closed'; reason: string }

type Opening = {
  userId: string
  clientToken: string
  browser: string
  networkHash: Buffer | null
  device: Device
}

type Proof = { tokenHash: Buffer | undefined; browserHash: Buffer | undefined }

type Client = Proof & {
  networkHash: Buffer | null
  /** Charges the rate limit of the session, once the cookie is known to be its own. */
  charge: (sessionId: string) => Promise<void>
}

/**
 * Checks a session cookie that is exchanged for a new access token; returns null when it is not
 * valid. The current secret is valid, and so is the previous one: until the current one was seen,
 * because the response that contained it may have been lost, and for 60 s, because two tabs may
 * refresh at once. An older secret means that somebody has a copy of the cookie, so the session is
 * closed. A cookie of another client closes nothing. A browser that has lost its clientToken is from
 * then on proved by its own cookie alone. Rejects as `charge` does, with nothing changed.
 */
export function refreshSession(
  db: Db,
  presented: SessionSecret,
  { networkHash, charge, ...proof }: Client,
): Promise<Refreshed | Copied | Closed | null> {
  return db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, presented.id)
    const hash = hashSecret(presented.secret)
    if (!session) {
      const reason = await selectClosedReason(tx, presented.id, hash)
      return reason === undefined ? null : { state: 'closed', reason }
    }
    if (!isSameClient(session, proof)) return null
    const userId = session.user_id

    const isCurrent = timingSafeEqual(session.secret_hash, hash)
    const isPrevious =
      session.previous_hash !== null && timingSafeEqual(session.previous_hash, hash)
    const inGrace = session.secret_age <= GRACE_SECONDS
    if (!isCurrent && !(isPrevious && (!session.seen || inGrace))) {
      await deleteSession(tx, { sessionId: presented.id, userId })
      return { state: 'copied', userId }
    }
    await charge(presented.id)
    if (!proof.tokenHash && !session.is_token_lost) await noteLostToken(tx, presented.id)
    // A previous secret after its grace period: the response with the current one was lost.
    const isDue = isCurrent ? session.secret_age > ROTATE_AFTER_SECONDS : !inGrace
    if (isDue) {
      const secret = newSessionSecret(presented.id)
      await rotateSecret(tx, presented.id, {
        next: hashSecret(secret.secret),
        presented: hash,
        networkHash,
      })
      return { state: 'live', userId, rotated: { secret, age: session.age } }
    }
    await touchSession(tx, presented.id, isCurrent)
    return { state: 'live', userId, rotated: null }
  })
}

/**
 * Closes another session of the viewer, whose browser is then no longer known: it may be a thief's.
 * Throws SESSION_NOT_FOUND, or UNAUTHORIZED if the viewer's own session was closed meanwhile.
 */
export function closeSession(db: Db, viewer: Viewer, sessionId: string): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await requireOpen(tx, viewer)
    await removeClientOf(tx, viewer, sessionId)
    const closing = { reason: BY_ANOTHER_DEVICE, only: sessionId }
    // A browser that has just signed out by itself stays known.
    const closed = await closeSessions(tx, viewer.userId, closing)
    if (closed === 0) throw new AppError('SESSION_NOT_FOUND')
  })
}

/**
 * Closes all other sessions of the viewer. No other browser is known any more. Throws UNAUTHORIZED
 * if the viewer's own session was closed meanwhile.
 */
export function closeOtherSessions(db: Db, viewer: Viewer): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await requireOpen(tx, viewer)
    await removeOtherClients(tx, viewer)
    const closing = { reason: BY_ANOTHER_DEVICE, except: viewer.sessionId }
    await closeSessions(tx, viewer.userId, closing)
  })
}

async function requireOpen(tx: Queryable, viewer: Viewer): Promise<void> {
  await lockOwner(tx, viewer.userId)
  if (!(await isSessionOpen(tx, viewer))) throw new AppError('UNAUTHORIZED')
}

type StoredClient = {
  client_hash: Buffer
  browser_hash: Buffer
  is_token_lost: boolean
}

function isSameClient(session: StoredClient, { tokenHash, browserHash }: Proof): boolean {
  if (tokenHash && timingSafeEqual(session.client_hash, tokenHash)) return true
  if (tokenHash && !session.is_token_lost) return false
  return browserHash !== undefined && timingSafeEqual(session.browser_hash, browserHash)
}

function joinHashes(tokenHash: Buffer, browserHash: Buffer): Buffer {
  return createHash('sha256').update(tokenHash).update(browserHash).digest()
}
