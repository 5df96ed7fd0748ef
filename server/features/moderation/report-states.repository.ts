import { sql } from 'kysely'
import type { OwnRemovedPost, OwnReport } from '../../../contract/moderation.ts'
import { isRecent } from '../../kernel/db/clock.ts'
import { hasRow, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import { mailboxOf } from '../../kernel/mail/email-address.ts'
import { POST_STATE } from './queue.repository.ts'

/** Reports of younger accounts, or of accounts with more refused reports, hide no post. */
const REPORTER_AGE = sql.raw(`interval '1 day'`)
const REFUSED_MAX = sql.raw('3')
/** The most posts that the open reports of one account may hide. */
const HIDDEN_MAX = sql.raw('3')
const REFUSED_WITHIN = sql.raw(`interval '30 days'`)

const IS_DISTRUSTED = sql<boolean>`(SELECT count(*) FROM reports k WHERE k.reporter_id = u.id
  AND k.state = 'kept' AND k.decided_at > now() - ${REFUSED_WITHIN}) > ${REFUSED_MAX}`

/** Counts the trusted reporters of a post; accounts of one mailbox or network count as one. */
export async function countTrustedReporters(db: Queryable, postId: string): Promise<number> {
  const { rows } = await sql<{ email: string; network: string | null }>`
    SELECT u.email, u.network_group::text AS network FROM users u
    WHERE u.id IN (SELECT reporter_id FROM reports WHERE post_id = ${postId} AND state = 'open')
      AND u.created_at <= now() - ${REPORTER_AGE} AND NOT ${IS_DISTRUSTED}
      AND (SELECT count(DISTINCT o.post_id) FROM reports o
        JOIN posts p ON p.id = o.post_id AND p.hidden_for = 'reported'
        WHERE o.reporter_id = u.id AND o.state = 'open' AND o.post_id <> ${postId}) < ${HIDDEN_MAX}
    ORDER BY u.id`.execute(db)
  const seen = new Set<string>()
  return rows.filter(({ email, network }) => {
    const traits = [mailboxOf(email), ...(network === null ? [] : [network])]
    const isNew = !traits.some((trait) => seen.has(trait))
    for (const trait of traits) seen.add(trait)
    return isNew
  }).length
}

/** Returns ids of hidden posts with a reporter who has lost the moderators' trust. */
export async function selectDoubtfullyHidden(db: Queryable): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT p.id FROM posts p WHERE p.hidden_for = 'reported' AND EXISTS (
      SELECT FROM reports r JOIN users u ON u.id = r.reporter_id
      WHERE r.post_id = p.id AND r.state = 'open' AND ${IS_DISTRUSTED})
    ORDER BY p.id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Locks a post's open reports and appeal. Returns how many there are. */
export async function lockOpenCases(tx: Queryable, postId: string) {
  const isOpen = sql`post_id = ${postId} AND state = 'open'`
  const reports = await sql`SELECT FROM reports WHERE ${isOpen} ORDER BY id FOR UPDATE`.execute(tx)
  const appeals = await sql`SELECT FROM appeals WHERE ${isOpen} FOR UPDATE`.execute(tx)
  return { reports: reports.rows.length, appeals: appeals.rows.length }
}

export type Verdict = 'remove' | 'keep'

/** Closes a post's open reports and appeal with a verdict. */
export async function closeOpenCases(
  tx: Queryable,
  postId: string,
  { verdict, isSeen }: { verdict: Verdict; isSeen: boolean },
): Promise<void> {
  const [ofReports, ofAppeal] = verdict === 'remove' ? ['removed', 'refused'] : ['kept', 'granted']
  const isOpen = sql`post_id = ${postId} AND state = 'open'`
  await sql`UPDATE reports SET state = ${ofReports}, is_seen = ${isSeen}, decided_at = now()
    WHERE ${isOpen}`.execute(tx)
  await sql`UPDATE appeals SET state = ${ofAppeal}, decided_at = now() WHERE ${isOpen}`.execute(tx)
}

const OWN_REPORTS_MAX = 50
/** The reported text; '' if its author has deleted it: then it is only evidence for moderators. */
const READABLE_TEXT = sql`CASE WHEN p.id IS NULL OR p.hidden_for = 'deleted' OR a.deleted_at IS NOT NULL THEN ''
  ELSE r.post_text END`

/** A removed post that was restored, for example after an appeal, broke no rule after all. */
const OUTCOME = sql`CASE WHEN r.state = 'removed' AND p.id IS NOT NULL AND p.hidden_for IS NULL THEN 'kept'
  ELSE r.state END`

export async function selectOwnReports(db: Queryable, reporterId: string): Promise<OwnReport[]> {
  const { rows } = await sql<OwnReport>`
    SELECT r.id, r.post_id AS "postId", ${READABLE_TEXT} AS "postText", rr.name AS reason, r.comment,
      ${unixSeconds('r.created_at')} AS "createdAt",
      ${OUTCOME} AS outcome, ${unixSeconds('r.decided_at')} AS "decidedAt",
      r.state <> 'open' AND NOT r.is_seen AS "isNew"
    FROM reports r JOIN report_reasons rr ON rr.id = r.reason_id JOIN users a ON a.id = r.author_id
      LEFT JOIN posts p ON p.id = r.post_id
    WHERE r.reporter_id = ${reporterId} ORDER BY r.id DESC LIMIT ${OWN_REPORTS_MAX}`.execute(db)
  return rows
}

export async function markOutcomesSeen(db: Queryable, reporterId: string): Promise<void> {
  await sql`UPDATE reports SET is_seen = true
    WHERE reporter_id = ${reporterId} AND state <> 'open' AND NOT is_seen`.execute(db)
}

/** Claims the mail to the moderators. Returns false within an hour, or if nothing is new. */
export async function claimModeratorMail(tx: Queryable): Promise<boolean> {
  const isNew = sql<boolean>`state = 'open'
    AND created_at > least(mailed_at, now() - interval '1 hour')`
  const { numAffectedRows } = await sql`UPDATE moderator_mails SET mailed_at = clock_timestamp()
    WHERE NOT ${isRecent('mailed_at', 3600)} AND (EXISTS (SELECT FROM reports WHERE ${isNew})
      OR EXISTS (SELECT FROM appeals WHERE ${isNew}))`.execute(tx)
  return numAffectedRows === 1n
}

const KEPT_FOR = sql.raw(`interval '180 days'`)

export async function removeOldReports(db: Queryable): Promise<void> {
  await sql`DELETE FROM reports WHERE created_at < now() - ${KEPT_FOR}`.execute(db)
  await sql`DELETE FROM appeals WHERE created_at < now() - ${KEPT_FOR}`.execute(db)
}

const OWN_REMOVED_MAX = 50
/** Whether an appeal `ap` is about this removal of post `p`, and not about an earlier one. */
const IS_OF_REMOVAL = sql`coalesce(ap.decided_at >= p.hidden_at, true)`

export const UNDER_APPEAL = sql`SELECT post_id FROM appeals WHERE state = 'open'`

export async function selectOwnRemovedPosts(
  db: Queryable,
  ownerId: string,
): Promise<OwnRemovedPost[]> {
  const { rows } = await sql<OwnRemovedPost>`
    SELECT p.id, p.text, ${unixSeconds('p.created_at')} AS "createdAt", ${POST_STATE} AS state,
      ${unixSeconds('p.hidden_at')} AS "removedAt", coalesce(p.hidden_reason, '') AS reason,
      ${unixSeconds('p.hidden_until')} AS until,
      CASE WHEN ap.post_id IS NOT NULL THEN json_build_object('text', ap.text,
        'state', CASE WHEN ap.state = 'open' THEN 'open' ELSE 'refused' END) END AS appeal
    FROM posts p LEFT JOIN appeals ap ON ap.post_id = p.id AND ${IS_OF_REMOVAL}
    WHERE p.owner_id = ${ownerId} AND p.hidden_for IN ('removed', 'reported')
    ORDER BY p.hidden_at DESC, p.id DESC LIMIT ${OWN_REMOVED_MAX}`.execute(db)
  return rows
}

export function isOwnRemovedPost(db: Queryable, id: string, ownerId: string): Promise<boolean> {
  const posts = db.selectFrom('posts').select('id').where('id', '=', id)
  const removed = posts.where('owner_id', '=', ownerId).where('hidden_for', '=', 'removed')
  return hasRow(removed.where('hidden_until', '>', sql<Date>`now()`))
}

/** Adds an appeal, dated after the last digest. Returns false if this removal has had one. */
export async function insertAppeal(
  tx: Queryable,
  appeal: { postId: string; text: string },
): Promise<boolean> {
  await sql`SELECT FROM moderator_mails FOR UPDATE`.execute(tx)
  const { numAffectedRows } =
    await sql`INSERT INTO appeals AS ap (post_id, user_id, text, created_at)
    SELECT p.id, p.owner_id, ${appeal.text}, clock_timestamp() FROM posts p WHERE p.id = ${appeal.postId}
    ON CONFLICT (post_id) DO UPDATE SET
      text = excluded.text, created_at = excluded.created_at, state = 'open', decided_at = NULL
    WHERE NOT (SELECT ${IS_OF_REMOVAL} FROM posts p WHERE p.id = ap.post_id)`.execute(tx)
  return numAffectedRows === 1n
}
