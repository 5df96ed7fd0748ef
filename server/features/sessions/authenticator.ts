import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AccessTokenAnswer } from '../../../contract/fields.ts'
import { deriveKey, readSignedText, signText } from '../../kernel/config/app-secret.ts'
import type { Db } from '../../kernel/db/database.ts'
import { SharedRead } from '../../kernel/db/shared-read.ts'
import type { Authenticator, LiveSession, Viewer } from '../../kernel/http/route.ts'
import { findWritingRefusal } from '../site-state/write-refusal.ts'
import { selectLiveness, selectLiveSessions } from './sessions.repository.ts'

/** `seconds` is the life of a token. */
export type TokenOptions = { key: KeyObject; seconds: number }

/** Derives the key of access tokens. No backup contains `storedKey`, so none can sign tokens. */
export function deriveAccessTokenKey(secret: string, storedKey: Buffer): KeyObject {
  const mac = createHmac('sha256', storedKey).update(deriveKey(secret, 'access-token'))
  return createSecretKey(mac.digest())
}

/** Signs the user, session and expiry (unix seconds). Clients see opaque text. */
export function signAccessToken(
  { userId, sessionId }: Viewer,
  { key, seconds }: TokenOptions,
): AccessTokenAnswer {
  const expiresAt = Math.floor(Date.now() / 1000) + seconds
  const token = signText(`${userId}.${sessionId}.${expiresAt}`, key)
  return { accessToken: { token, expiresAt } }
}

type Claims = { viewer: Viewer; expiresAt: number }

/** The most verified tokens in memory: each HMAC would cost a tenth of a read. */
const TOKENS_MAX = 10_000

/** The most by which the clock of the node that signed a token may be ahead. */
const CLOCK_DIFFERENCE_SECONDS = 60

export class SessionAuthenticator implements Authenticator {
  readonly #db: Db
  readonly #tokens: TokenOptions
  readonly #contact: string | undefined
  readonly #claimsOfTokens = new LRUCache<string, Claims>({ max: TOKENS_MAX })
  readonly #checks: SharedRead<Viewer, Awaited<ReturnType<typeof selectLiveSessions>>[number]>

  /** `contact` is the address that blocked users may write to. */
  constructor(db: Db, tokens: TokenOptions, contact: string | undefined) {
    this.#db = db
    this.#tokens = tokens
    this.#contact = contact
    this.#checks = new SharedRead((viewers) => selectLiveSessions(db, viewers))
  }

  /** Returns null for an invalid or expired token, or if it expires later than a new token. */
  readToken(token: string): Viewer | null {
    const claims = this.#claimsOfTokens.get(token) ?? this.#remember(token)
    const left = (claims?.expiresAt ?? 0) - Date.now() / 1000
    const longest = this.#tokens.seconds + CLOCK_DIFFERENCE_SECONDS
    return claims && left > 0 && left <= longest ? claims.viewer : null
  }

  #remember(token: string): Claims | null {
    const claims = readClaims(token, this.#tokens.key)
    if (claims) this.#claimsOfTokens.set(token, claims)
    return claims
  }

  areLive(viewers: Viewer[]): Promise<boolean[]> {
    return selectLiveness(this.#db, viewers)
  }

  async findSession(viewer: Viewer): Promise<LiveSession | null> {
    const session = await this.#checks.call(viewer)
    if (!session) return null
    return {
      newcomer: session.newcomer,
      writingRefusal: findWritingRefusal(session, this.#contact),
    }
  }
}

function readClaims(token: string, key: KeyObject): Claims | null {
  const claims = readSignedText(token, key)
  if (claims === undefined) return null
  const [userId = '', sessionId = '', expiresAt] = claims.split('.')
  return { viewer: { userId, sessionId }, expiresAt: Number(expiresAt) }
}
