import { createHash, createHmac, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ERRORS } from '../../../contract/errors.ts'
import type { AccessTokenAnswer, Device } from '../../../contract/fields.ts'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import type { Config } from '../../kernel/config/config.ts'
import type { Db, Queryable } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Http, Viewer } from '../../kernel/http/route.ts'
import { hashNetwork, widestNetworkOf } from '../../kernel/limits/limits.ts'
import type { StartingClient } from '../codes/codes.service.ts'
import { deriveAccessTokenKey, signAccessToken, type TokenOptions } from './authenticator.ts'
import {
  BROWSER_SECONDS,
  type Cookie,
  cookieOf,
  formatSessionCookie,
  hashSecret,
  IDLE_SECONDS,
  LIFETIME_SECONDS,
  parseBrowserCookie,
  parseSessionCookie,
  type SessionSecret,
  type SiteAddress,
  signSecret,
} from './cookie.ts'
import { insertKnownClient, removeOtherClients } from './known-clients.repository.ts'
import type { Proof } from './refresh.service.ts'
import {
  closeSessions,
  hasSecret,
  insertSession,
  isSessionOpen,
  lockUser,
} from './sessions.repository.ts'

type Options = SiteAddress &
  Pick<Config, 'accessTokenSeconds'> & {
    secret: string
    storedKey: Buffer
  }

/** Secrets of before they were numbered count as 0. */
const FIRST_NUMBER = 1

type Opening = {
  /** The operation whose code opens the session. */
  operationId: string
  userId: string
  clientToken: string
  browser: string
  networkHash: Buffer | null
  device: Device
}

/** Signs access tokens, opens sessions, and identifies clients by tokens and cookies. */
export class Sessions {
  readonly tokens: TokenOptions
  readonly cookieName: string
  /** Signs the secrets of sessions. */
  readonly secretKey: Buffer
  readonly #clientKey: Buffer
  readonly #cookieKey: Buffer
  readonly #cookie: Cookie
  readonly #browserCookie: Cookie

  constructor({ secret, storedKey, accessTokenSeconds, ...site }: Options) {
    this.tokens = { key: deriveAccessTokenKey(secret, storedKey), seconds: accessTokenSeconds }
    this.secretKey = deriveKey(secret, 'session-secret')
    this.#clientKey = deriveKey(secret, 'client-token')
    this.#cookieKey = deriveKey(secret, 'first-cookie')
    this.#cookie = cookieOf('session', site)
    this.cookieName = this.#cookie.name
    this.#browserCookie = cookieOf('browser', site)
  }

  /** Returns what the operation of a client is found by. */
  clientOf(clientToken: string, request: FastifyRequest) {
    const mac = createHmac('sha256', this.#clientKey).update(
      `network ${widestNetworkOf(request.ip)}`,
    )
    return {
      clientHash: this.#hashClient(clientToken, request),
      networkClientHash: joinHashes(this.#hashToken(clientToken), mac.digest()),
    }
  }

  /**
   * Returns the client that starts an operation. If it has no cookie, the answer sets one, see
   * `setBrowserOfStart`; a browser that does not keep it is bound to its network.
   */
  startingClientOf(clientToken: string, request: FastifyRequest): StartingClient {
    const { clientHash, networkClientHash } = this.clientOf(clientToken, request)
    if (this.#readBrowser(request) !== undefined) {
      return { clientHash, networkClientHash: null, hashFor: () => clientHash }
    }
    const hashFor = (operationId: string) =>
      joinHashes(clientHash, hashSecret(this.#derive('started', operationId)))
    return { clientHash, networkClientHash, hashFor }
  }

  /** Gives a browser without a cookie the one that the operation is bound to. */
  setBrowserOfStart({ request, reply }: Http, operationId: string): void {
    if (this.#readBrowser(request) !== undefined) return
    this.setBrowser(reply, this.#derive('started', operationId))
  }

  hashNetwork(ip: string): Buffer | null {
    return hashNetwork(ip, this.#clientKey)
  }

  readProof(clientToken: string | undefined, request: FastifyRequest): Proof {
    const browser = this.#readBrowser(request)
    return {
      tokenHash: clientToken === undefined ? undefined : this.#hashToken(clientToken),
      browserHash: browser === undefined ? undefined : hashSecret(browser),
    }
  }

  /**
   * Returns the cookie by which a browser is known from its sign-in on: its own, or a new one, equal
   * in all answers to a code. That of the start is replaced, because others in the same network
   * could get it too.
   */
  browserOf(request: FastifyRequest, operationId: string): string {
    const own = this.#readBrowser(request)
    const isOwn = own !== undefined && own !== this.#derive('started', operationId)
    return isOwn ? own : this.#derive('browser', operationId)
  }

  /** Opens a session. The caller sets the cookies after the transaction has committed. */
  async open(tx: Queryable, { operationId, userId, clientToken, browser, ...opening }: Opening) {
    const { networkHash, device } = opening
    const fresh = this.#firstSecret(randomUUID(), operationId)
    const clientHash = this.#hashToken(clientToken)
    const browserHash = hashSecret(browser)
    const closedOldest = await insertSession(tx, {
      id: fresh.id,
      user_id: userId,
      secret_hash: hashSecret(fresh.secret),
      secret_number: FIRST_NUMBER,
      client_hash: clientHash,
      browser_hash: browserHash,
      network_hash: networkHash,
      device,
    })
    const isNewClient = await insertKnownClient(tx, {
      userId,
      clientHash: joinHashes(clientHash, browserHash),
    })
    const viewer: Viewer = { userId, sessionId: fresh.id }
    return { secret: fresh, viewer, isKnownClient: !isNewClient, closedOldest }
  }

  /**
   * Returns a session as `open` did, with the same secret: all answers to a code that was sent
   * several times set the same cookie, in whatever order they arrive. Throws OPERATION_EXPIRED if
   * the session was closed, or has another secret by now.
   */
  async openAgain(db: Queryable, viewer: Viewer, operationId: string) {
    const secret = this.#firstSecret(viewer.sessionId, operationId)
    const isOpen = await hasSecret(db, viewer, hashSecret(secret.secret))
    if (!isOpen) throw new AppError('OPERATION_EXPIRED')
    const opened = { isKnownClient: true, closedOldest: false }
    return { ...opened, secret, viewer }
  }

  issueToken(viewer: Viewer): AccessTokenAnswer {
    return signAccessToken(viewer, this.tokens)
  }

  readCookie(request: FastifyRequest): SessionSecret | null {
    return parseSessionCookie(request.cookies[this.cookieName])
  }

  /** The cookie of a session that is `age` seconds old expires when the session does. */
  setCookie(reply: FastifyReply, fresh: SessionSecret, age = 0): void {
    const maxAge = Math.min(IDLE_SECONDS, Math.floor(LIFETIME_SECONDS - age))
    const { name, options } = this.#cookie
    reply.setCookie(name, formatSessionCookie(fresh), { ...options, maxAge })
  }

  setBrowser(reply: FastifyReply, browser: string): void {
    const { name, options } = this.#browserCookie
    reply.setCookie(name, browser, { ...options, maxAge: BROWSER_SECONDS })
  }

  clearCookie(reply: FastifyReply): void {
    reply.clearCookie(this.cookieName, this.#cookie.options)
  }

  #firstSecret(id: string, operationId: string): SessionSecret {
    const random = Buffer.from(this.#derive('session', operationId), 'base64url')
    return signSecret({ id, number: FIRST_NUMBER }, this.secretKey, random)
  }

  /** Derives the first value of a cookie. The operation's id is random and in no backup. */
  #derive(cookie: 'started' | 'session' | 'browser', operationId: string): string {
    const mac = createHmac('sha256', this.#cookieKey).update(`${cookie} ${operationId}`)
    return mac.digest('base64url')
  }

  /** Hashes a client: its clientToken together with the browser's cookie, if there is one. */
  #hashClient(clientToken: string, request: FastifyRequest): Buffer {
    const browser = this.#readBrowser(request)
    const tokenHash = this.#hashToken(clientToken)
    return browser === undefined ? tokenHash : joinHashes(tokenHash, hashSecret(browser))
  }

  #hashToken(clientToken: string): Buffer {
    return createHmac('sha256', this.#clientKey).update(clientToken).digest()
  }

  #readBrowser(request: FastifyRequest): string | undefined {
    return parseBrowserCookie(request.cookies[this.#browserCookie.name])
  }
}

/** Locks the viewer's account. Throws UNAUTHORIZED if the session was closed meanwhile. */
export async function lockViewer(tx: Queryable, viewer: Viewer) {
  const user = await lockUser(tx, viewer.userId)
  if (!user || !(await isSessionOpen(tx, viewer))) throw new AppError('UNAUTHORIZED')
  return user
}

/**
 * Closes the viewer's other sessions, or only `only`, and forgets their browsers, maybe a thief's.
 * Throws UNAUTHORIZED if the viewer's session was closed meanwhile, or SESSION_NOT_FOUND.
 */
export function closeOtherSessions(db: Db, viewer: Viewer, only?: string): Promise<void> {
  const { userId, sessionId } = viewer
  const reason = ERRORS.SESSION_CLOSED.message
  return db.transaction().execute(async (tx) => {
    await lockViewer(tx, viewer)
    await removeOtherClients(tx, viewer, only)
    const closed = await closeSessions(tx, userId, { reason, only, except: sessionId })
    // The rollback keeps the browser known, because it has just signed out by itself.
    if (only !== undefined && closed === 0) throw new AppError('SESSION_NOT_FOUND')
  })
}

function joinHashes(tokenHash: Buffer, browserHash: Buffer): Buffer {
  return createHash('sha256').update(tokenHash).update(browserHash).digest()
}
