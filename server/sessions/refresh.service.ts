import { timingSafeEqual } from 'node:crypto'
import type { Db, Queryable } from '../db/database.ts'
import { hashSecret, newSessionSecret, type SessionSecret } from './cookie.ts'
import { deleteSession, lockSession, rotateSecret, touchSession } from './sessions.repository.ts'

/** A secret is replaced at a refresh when it is older than this. */
const ROTATE_AFTER_SECONDS = 600
/** The secret before stays good at least this long, for a second tab whose request was on its way. */
const GRACE_SECONDS = 60

export type Refreshed = {
  userId: string
  isCopied: false
  /** The new secret for the cookie, where it was rotated, and the seconds the session has lived. */
  rotated: { secret: SessionSecret; age: number } | null
}

/** An old secret was presented, so that the session is closed. */
type Copied = { userId: string; isCopied: true }

type Client = {
  clientHash: Buffer
  /** Counts the refresh for the session, once the cookie has proved to be its own. */
  charge: (sessionId: string) => Promise<void>
}

/**
 * Accepts a session cookie for a new access token, or gives null. The current secret is accepted, and the one before
 * until the current one was seen, or for 60 s: an answer can get lost, and two tabs can ask at once. An older secret
 * means that a copy is about: the session is closed. Another client's refresh is refused and closes nothing.
 * Rejects with what `charge` rejects with; nothing has changed then.
 */
export function refreshSession(
  db: Db,
  presented: SessionSecret,
  { clientHash, charge }: Client,
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
    // A previous secret past its grace means that the answer with the current one was lost: it needs another.
    const isDue = isCurrent ? session.secret_age > ROTATE_AFTER_SECONDS : !inGrace
    if (isDue)
      return {
        userId,
        isCopied: false,
        rotated: { secret: await rotate(tx, presented.id, hash), age: session.age },
      }
    await touchSession(tx, presented.id, isCurrent)
    return { userId, isCopied: false, rotated: null }
  })
}

async function rotate(tx: Queryable, id: string, presented: Buffer): Promise<SessionSecret> {
  const fresh = newSessionSecret(id)
  await rotateSecret(tx, id, { next: hashSecret(fresh.secret), presented })
  return fresh
}
