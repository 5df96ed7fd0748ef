import { domainToUnicode } from 'node:url'
import { sql, type Updateable } from 'kysely'
import { formatDate } from '../../../contract/dates.ts'
import type { SiteState } from '../../../contract/pages.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import type { Tables } from '../../kernel/db/tables.ts'
import { type Asker, selectAskerWait } from './mail-reputation.repository.ts'

/** For how many days before its end a wall says so. */
export const END_NOTICE_DAYS = 30
const NOTICE_TIME = sql.raw(`interval '${END_NOTICE_DAYS} days'`)
/** After it nobody is signed in at a former address any more. */
const SESSION_LIFE = sql.raw(`interval '90 days'`)

export async function selectSiteState(db: Queryable): Promise<SiteState> {
  const { text, since, moderators, movedFrom, endsAt, ...state } = await db
    .selectFrom('site_access')
    .innerJoin('installation', (join) => join.onTrue())
    .leftJoin('notice_in_force', (join) => join.onTrue())
    .select(['registrations_closed as registrationsClosed', 'is_invite_only as isInviteOnly'])
    .select(['writing_closed as writingClosed', 'text', 'since'])
    .select([
      sql<string[] | null>`(SELECT array_agg(user_id::text ORDER BY user_id)
        FROM moderator_users WHERE is_marked)`.as('moderators'),
      sql<string | null>`CASE WHEN moved_at > now() - ${SESSION_LIFE} THEN former_url END`.as(
        'movedFrom',
      ),
      sql<Date | null>`CASE WHEN ends_at > now() AND ends_at <= now() + ${NOTICE_TIME}
        THEN ends_at END`.as('endsAt'),
    ])
    .executeTakeFirstOrThrow()
  return {
    ...state,
    notice: text === null ? null : { id: String(since?.getTime()), text },
    ...(moderators && { moderators }),
    ...(movedFrom && { movedFrom: inLetters(movedFrom) }),
    ...(endsAt && { endsOn: formatDate(endsAt) }),
  }
}

/** Returns when the wall ends or has ended; null if it goes on. */
export async function selectEnd(db: Queryable): Promise<Date | null> {
  const { ends_at } = await db.selectFrom('site_access').select('ends_at').executeTakeFirstOrThrow()
  return ends_at
}

/** Returns an address whose domain is in Unicode, as people know it. */
function inLetters(url: string): string {
  const { hostname } = new URL(url)
  return url.replace(hostname, domainToUnicode(hostname))
}

export async function updateSiteState(
  tx: Queryable,
  changes: Updateable<Tables['site_state']>,
): Promise<void> {
  await tx.updateTable('site_state').set(changes).execute()
}

export type Notice = { text: string; until: Date | null }

export function selectNotice(db: Queryable): Promise<Notice | undefined> {
  return db.selectFrom('notice_in_force').select(['text', 'until']).executeTakeFirst()
}

/** Shows a notice for some seconds, or until it is replaced. Returns its end. */
export async function updateNotice(
  tx: Queryable,
  { text, seconds }: { text: string; seconds?: number | undefined },
): Promise<Date | null> {
  const { notice_until } = await tx
    .updateTable('site_state')
    .set({
      notice: text,
      notice_since: sql<Date>`now()`,
      notice_until: sql<Date | null>`now() + ${seconds ?? null}::float8 * interval '1 second'`,
    })
    .returning('notice_until')
    .executeTakeFirstOrThrow()
  return notice_until
}

export type NewInvitation = { days: number; uses: number; note: string | null }

const INVITATION = ['id', 'note', 'uses', 'uses_left as usesLeft', 'expires_at as until'] as const

export function insertInvitation(
  tx: Queryable,
  { tokenHash, days, uses, note }: NewInvitation & { tokenHash: Buffer },
): Promise<{ id: string; until: Date }> {
  const until = sql<Date>`now() + ${days} * interval '1 day'`
  return tx
    .insertInto('invitations')
    .values({ token_hash: tokenHash, uses, uses_left: uses, note, expires_at: until })
    .returning(['id', 'expires_at as until'])
    .executeTakeFirstOrThrow()
}

export function selectInvitations(db: Queryable) {
  return db
    .selectFrom('invitations')
    .select(INVITATION)
    .where('expires_at', '>', sql<Date>`now()`)
    .orderBy('id')
    .execute()
}

export function deleteInvitation(tx: Queryable, id: string) {
  return tx.deleteFrom('invitations').where('id', '=', id).returning(INVITATION).executeTakeFirst()
}

const IS_VALID = sql<boolean>`expires_at > now() AND uses_left > 0`

/** Uses an invitation once. Returns whether it was valid. */
export async function claimInvitation(tx: Queryable, tokenHash: Buffer): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('invitations')
    .set({ uses_left: sql<number>`uses_left - 1` })
    .where('token_hash', '=', tokenHash)
    .where(IS_VALID)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export type BanKind = Tables['bans']['kind']
export type Ban = {
  id: string
  kind: BanKind
  value: string
  /** Whether the ban also covers reading and writing, and not only registrations. */
  coversAll: boolean
  until: Date | null
  /** The reason and the operator's name; null if none was given. */
  reason: string | null
  actor: string | null
  createdAt: Date
}
export type NewBan = Pick<Ban, 'kind' | 'value' | 'coversAll' | 'reason'> & {
  actor: string
  seconds: number | null
}

/** Adds a ban, or changes an existing ban; its end and reason change only if they are passed. */
export function upsertBan(
  tx: Queryable,
  { kind, value, coversAll, seconds, reason, actor }: NewBan,
): Promise<Pick<Ban, 'id' | 'until'>> {
  const until = seconds === null ? null : sql<Date>`now() + ${seconds} * interval '1 second'`
  const network = sql<string>`abbrev(${value}::inet)`
  return tx
    .insertInto('bans')
    .values({
      ...{ kind, value: kind === 'network' ? network : value },
      ...{ covers_all: coversAll, until, reason, actor },
    })
    .onConflict((conflict) =>
      conflict.columns(['kind', 'value']).doUpdateSet({
        until: until ?? sql`CASE WHEN bans.until > now() THEN bans.until END`,
        reason: sql`coalesce(excluded.reason, bans.reason)`,
        covers_all: coversAll,
        actor,
      }),
    )
    .returning(['id', 'until'])
    .executeTakeFirstOrThrow()
}

export function selectBans(db: Queryable): Promise<Ban[]> {
  return db
    .selectFrom('bans')
    .select(['id', 'kind', 'value', 'covers_all as coversAll', 'until', 'reason', 'actor'])
    .select('created_at as createdAt')
    .where(sql<boolean>`coalesce(until > now(), true)`)
    .orderBy('id')
    .execute()
}

export function deleteBan(tx: Queryable, id: string) {
  return tx.deleteFrom('bans').where('id', '=', id).returning(['kind', 'value']).executeTakeFirst()
}

export type AdmissionQuery = {
  mailbox: string
  domain: string
  address: string | null
  tokenHash: Buffer | null
}

export type Admission = {
  /** Why registrations are closed; null if they are open. */
  closedReason: string | null
  isInviteOnly: boolean
  isBanned: boolean
  isInvited: boolean
  /** Until when the network gets no codes for new addresses. */
  askerWaitsUntil: Date | null
}

export async function selectAdmission(
  db: Queryable,
  { mailbox, domain, address, tokenHash }: AdmissionQuery,
  asker?: Asker,
): Promise<Admission> {
  const { rows } = await sql<Admission>`
    SELECT registrations_closed AS "closedReason", is_invite_only AS "isInviteOnly",
      EXISTS (
        SELECT FROM bans WHERE coalesce(until > now(), true) AND CASE kind
          WHEN 'email' THEN value = ${mailbox}
          WHEN 'domain' THEN ${domain} = value OR right(${domain}, length(value) + 1) = '.' || value
          ELSE ${address}::inet <<= network END
      ) AS "isBanned",
      EXISTS (
        SELECT FROM invitations WHERE token_hash = ${tokenHash}::bytea AND ${IS_VALID}
      ) AS "isInvited",
      ${asker ? sql`(${selectAskerWait(db, asker)})` : sql`NULL::timestamptz`} AS "askerWaitsUntil"
    FROM site_access`.execute(db)
  return rows[0] as Admission
}

export async function removeExpiredSiteRows(db: Queryable): Promise<void> {
  await db.deleteFrom('invitations').where('expires_at', '<', sql<Date>`now()`).execute()
  await db.deleteFrom('bans').where('until', '<', sql<Date>`now()`).execute()
}
