import { sql } from 'kysely'
import type { Queryable } from './database.ts'

/**
 * A place in PostgreSQL's log of changes: the bytes before it, and the timeline, which a promoted standby begins anew. Of two places on
 * different timelines neither need contain the other.
 */
export type WalPosition = { timeline: number; lsn: number }

/** SQL for where a primary's log ends on its disk, as `formatPosition` writes it: every commit answered so far is before it. */
export const PRIMARY_POSITION = sql`SELECT ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int || ':' ||
  (lsn - '0/0')::bigint AS position FROM pg_current_wal_flush_lsn() lsn`

/**
 * The same for what a server shows to reads, be it a standby or a primary. The control file follows a change of timeline after minutes,
 * the receiver of changes at once; without the role pg_read_all_stats it is not seen.
 */
const SHOWN_POSITION = sql`SELECT CASE WHEN pg_is_in_recovery() THEN
    greatest((SELECT received_tli FROM pg_stat_wal_receiver WHERE status = 'streaming'),
      (SELECT timeline_id FROM pg_control_checkpoint()),
      (SELECT min_recovery_end_timeline FROM pg_control_recovery())) || ':' ||
    (pg_last_wal_replay_lsn() - '0/0')::bigint
  ELSE (${PRIMARY_POSITION}) END AS position`

/** Parses `timeline:bytes`. Returns undefined for any other text. */
export function parsePosition(text: string | null | undefined): WalPosition | undefined {
  const [, timeline, lsn] = /^(\d+):(\d+)$/.exec(text ?? '') ?? []
  return timeline && lsn ? { timeline: Number(timeline), lsn: Number(lsn) } : undefined
}

/** Returns where the log of a primary ends. Rejects on a standby. */
export function primaryPosition(db: Queryable): Promise<WalPosition | undefined> {
  return readPosition(db, PRIMARY_POSITION)
}

/** Returns up to where a server shows changes to the reads that begin now. */
export function shownPosition(db: Queryable): Promise<WalPosition | undefined> {
  return readPosition(db, SHOWN_POSITION)
}

async function readPosition(db: Queryable, query: typeof SHOWN_POSITION) {
  const { rows } = await query.$castTo<{ position: string | null }>().execute(db)
  return parsePosition(rows[0]?.position)
}

/** Whether a server that shows changes up to `shown` shows all changes before `required`. */
export function covers(shown: WalPosition | undefined, required: WalPosition): boolean {
  return shown !== undefined && shown.timeline === required.timeline && shown.lsn >= required.lsn
}

/** Returns the later one of two positions of primaries: a newer timeline began after its predecessor had ended. */
export function later(one: WalPosition | undefined, other: WalPosition): WalPosition {
  if (!one || other.timeline > one.timeline) return other
  return other.timeline === one.timeline && other.lsn > one.lsn ? other : one
}
