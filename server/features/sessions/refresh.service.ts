import { timingSafeEqual } from 'node:crypto'
import type { Db } from '../../kernel/db/database.ts'
import { hashSecret, type SessionSecret, secretNumberOf, signSecret } from './cookie.ts'
import {
  deleteSession,
  lockSession,
  markTokenLost,
  rotateSecret,
  selectClosedReason,
  touchSession,
} from './sessions.repository.ts'

/** A refresh rotates a secret that is older than this. */
const ROTATE_AFTER_SECONDS = 600
/** The previous secret stays valid this long, for requests that other tabs have already sent. */
const GRACE_SECONDS = 60

/** `rotation` has the new secret and the session's age in seconds; a `copied` session was closed. */
type RefreshResult =
  | { state: 'live'; userId: string; rotation: { secret: SessionSecret; age: number } | null }
  | { state: 'copied'; userId: string }
  | { state: 'closed'; reason: string }

export type Proof = { tokenHash: Buffer | undefined; browserHash: Buffer | undefined }

type Client = Proof & {
  /** Signs the secrets of sessions. */
  secretKey: Buffer
  networkHash: Buffer | null
  /** Charges the rate limit of the session after its cookie was verified. */
  charge: (sessionId: string) => Promise<void>
}

/**
 * Checks a session cookie; returns null if it is not valid. The previous secret is valid until the
 * current one was seen, because its response may have been lost, and for 60 s, because two tabs may
 * refresh at once. An older secret means that the cookie was copied, so the session is closed. A
 * newer one is known to the browser alone after a restore of the database, and is accepted. If a
 * browser has lost its clientToken, only its browser cookie proves it from then on.
 */
export function refreshSession(
  db: Db,
  cookie: SessionSecret,
  { networkHash, charge, secretKey, ...proof }: Client,
): Promise<RefreshResult | null> {
  return db.transaction().execute(async (tx) => {
    const session = await lockSession(tx, cookie.id)
    const hash = hashSecret(cookie.secret)
    if (!session) {
      const reason = await selectClosedReason(tx, cookie.id, hash)
      return reason === undefined ? null : { state: 'closed', reason }
    }
    if (!isSameClient(session, proof)) return null
    const userId = session.user_id

    const isCurrent = timingSafeEqual(session.secret_hash, hash)
    const isPrevious =
      session.previous_hash !== null && timingSafeEqual(session.previous_hash, hash)
    const inGrace = session.secret_age <= GRACE_SECONDS
    const number = secretNumberOf(cookie, secretKey) ?? 0
    const isNewer = number > session.secret_number
    if (!isCurrent && !isNewer && !(isPrevious && (!session.seen || inGrace))) {
      await deleteSession(tx, { sessionId: cookie.id, userId })
      return { state: 'copied', userId }
    }
    await charge(cookie.id)
    if (!proof.tokenHash && !session.is_token_lost) await markTokenLost(tx, cookie.id)
    // A previous secret after the grace period: the response with the current secret was lost.
    const isDue = isCurrent ? session.secret_age > ROTATE_AFTER_SECONDS : !inGrace
    if (isDue || isNewer) {
      const next = Math.max(number, session.secret_number) + 1
      const secret = signSecret({ id: cookie.id, number: next }, secretKey)
      await rotateSecret(tx, cookie.id, {
        next: hashSecret(secret.secret),
        number: next,
        presented: hash,
        networkHash,
      })
      return { state: 'live', userId, rotation: { secret, age: session.age } }
    }
    await touchSession(tx, cookie.id, isCurrent)
    return { state: 'live', userId, rotation: null }
  })
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
