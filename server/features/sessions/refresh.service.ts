import { timingSafeEqual } from 'node:crypto'
import type { Db } from '../../kernel/db/database.ts'
import { hashSecret, numberOf, type SessionSecret, signSecret } from './cookie.ts'
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

/** `rotated` has the new secret and the session's age in seconds; a `copied` session was closed. */
type Refreshed =
  | { state: 'live'; userId: string; rotated: { secret: SessionSecret; age: number } | null }
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
  presented: SessionSecret,
  { networkHash, charge, secretKey, ...proof }: Client,
): Promise<Refreshed | null> {
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
    const number = numberOf(presented, secretKey) ?? 0
    const isNewer = number > session.secret_number
    if (!isCurrent && !isNewer && !(isPrevious && (!session.seen || inGrace))) {
      await deleteSession(tx, { sessionId: presented.id, userId })
      return { state: 'copied', userId }
    }
    await charge(presented.id)
    if (!proof.tokenHash && !session.is_token_lost) await markTokenLost(tx, presented.id)
    // A previous secret after the grace period: the response with the current secret was lost.
    const isDue = isCurrent ? session.secret_age > ROTATE_AFTER_SECONDS : !inGrace
    if (isDue || isNewer) {
      const next = Math.max(number, session.secret_number) + 1
      const secret = signSecret({ id: presented.id, number: next }, secretKey)
      await rotateSecret(tx, presented.id, {
        next: hashSecret(secret.secret),
        number: next,
        presented: hash,
        networkHash,
      })
      return { state: 'live', userId, rotated: { secret, age: session.age } }
    }
    await touchSession(tx, presented.id, isCurrent)
    return { state: 'live', userId, rotated: null }
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
