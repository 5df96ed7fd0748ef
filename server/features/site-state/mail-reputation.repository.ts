import { sql } from 'kysely'
import { isRecent } from '../../kernel/db/clock.ts'
import type { Queryable } from '../../kernel/db/database.ts'

const IS_COUNTED = isRecent('at', 3600)

export type MailRefusals = { refused: number; networks: number }

export async function countRefusals(db: Queryable): Promise<MailRefusals> {
  const { rows } = await sql<MailRefusals>`
    SELECT count(*)::int AS refused, count(DISTINCT network_hash)::int AS networks
    FROM mail_refusals WHERE ${IS_COUNTED}`.execute(db)
  return (rows as [MailRefusals])[0]
}

export async function insertRefusal(tx: Queryable, networkHash: Buffer): Promise<void> {
  await tx.insertInto('mail_refusals').values({ network_hash: networkHash }).execute()
}

/** A network that requests codes, and the most refusals that it may have in an hour. */
export type Asker = { networkHash: Buffer; most: number }

/** Selects the time when a network has fewer than `most` refusals; no row if it has fewer now. */
export function selectAskerWait(db: Queryable, { networkHash, most }: Asker) {
  return db
    .selectFrom('mail_refusals')
    .select(sql<Date>`at + interval '1 hour'`.as('end'))
    .where('network_hash', '=', networkHash)
    .where(IS_COUNTED)
    .orderBy('at', 'desc')
    .offset(most - 1)
    .limit(1)
}

export async function removeOldRefusals(db: Queryable): Promise<void> {
  await db
    .deleteFrom('mail_refusals')
    .where((eb) => eb.not(IS_COUNTED))
    .execute()
}

/** After this time without too many refusals, the operator is notified again. */
const EPISODE_SECONDS = 3 * 3600

/** Records too many refusals. Returns whether a new episode begins. */
export async function recordEpisode(tx: Queryable): Promise<boolean> {
  const { rows } = await sql<{ isNew: boolean }>`
    UPDATE site_state SET mails_refused_at = now()
    FROM (SELECT mails_refused_at AS at FROM site_state FOR UPDATE) before
    RETURNING before.at IS NULL OR NOT ${isRecent('before.at', EPISODE_SECONDS)} AS "isNew"`.execute(
    tx,
  )
  return rows[0]?.isNew ?? false
}
