import { sql } from 'kysely'
import { RETURN_DAYS } from '../../../contract/constants.ts'
import { hasRow, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'

const erasedAt = unixSeconds(`deleted_at + ${RETURN_DAYS} * interval '1 day'`)

/** Returns the time of erasure in unix seconds: past if `isFinal`. Throws USER_NOT_FOUND. */
export async function markDeleted(
  tx: Queryable,
  userId: string,
  { isFinal = false } = {},
): Promise<number> {
  const ago = isFinal ? RETURN_DAYS * 86_400 + 1 : 0
  const row = await tx
    .updateTable('users')
    .set({ deleted_at: sql<Date>`now() - ${ago} * interval '1 second'`, is_returning: false })
    .where('id', '=', userId)
    .returning(erasedAt.as('erased_at'))
    .executeTakeFirstOrThrow(() => new AppError('USER_NOT_FOUND'))
  return row.erased_at
}

const returnable = sql<boolean>`deleted_at > now() - ${sql.lit(RETURN_DAYS)} * interval '1 day'`

/** Cancels a deletion. Returns false if it is too late. */
export async function markReturning(tx: Queryable, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('users')
    .set({ deleted_at: null, is_returning: true })
    .where('id', '=', userId)
    .where(returnable)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns the time of erasure in unix seconds; undefined if the user is not deleted. */
export async function selectErasureTime(
  db: Queryable,
  userId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('users')
    .select(erasedAt.as('erased_at'))
    .where('id', '=', userId)
    .where('deleted_at', 'is not', null)
    .executeTakeFirst()
  return row?.erased_at
}

export type Transition = { userId: string; kind: 'hide' | 'show' | 'erase' }

/** Returns the transitions that are left to do. None is an erasure unless `mayErase`. */
export async function selectTransitions(db: Queryable, mayErase: boolean): Promise<Transition[]> {
  const { rows } = await sql<Transition>`
    WITH unfinished AS (
      SELECT id, CASE
        WHEN deleted_at IS NULL THEN 'show'
        WHEN ${returnable} OR NOT ${mayErase}::boolean THEN 'hide'
        ELSE 'erase' END AS kind
      FROM users WHERE deleted_at IS NOT NULL OR is_returning
    )
    SELECT id AS "userId", kind FROM unfinished
    WHERE kind <> 'hide'
      OR EXISTS (SELECT FROM posts WHERE owner_id = unfinished.id AND hidden_for IS NULL)
      OR EXISTS (SELECT FROM likes WHERE user_id = unfinished.id AND NOT user_left)
    ORDER BY id`.execute(db)
  return rows
}

/** Locks a user whose transition is not finished. Returns false if it is finished. */
export function lockAccount(tx: Queryable, { userId, kind }: Transition): Promise<boolean> {
  const user = tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate()
  if (kind === 'show') return hasRow(user.where('is_returning', '=', true))
  return hasRow(user.where('deleted_at', 'is not', null))
}

export async function markReturned(tx: Queryable, userId: string): Promise<void> {
  await tx.updateTable('users').set({ is_returning: false }).where('id', '=', userId).execute()
}

/** Whether a user has posts. Locks the user: no posts are added until the transaction ends. */
export async function hasPosts(tx: Queryable, userId: string): Promise<boolean> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute()
  return hasRow(tx.selectFrom('posts').select('id').where('owner_id', '=', userId).limit(1))
}

const ERASED = 'erased'

/** Erases a user without posts, and the user's e-mail in the rows of others. The rest cascades. */
export async function eraseUser(tx: Queryable, userId: string): Promise<void> {
  const email = tx.selectFrom('users').select('email').where('id', '=', userId)
  const hidden = tx.updateTable('posts').where('hidden_for', 'is not', null)
  await hidden.set({ hidden_by: ERASED }).where('hidden_by', '=', email).execute()
  const blocks = tx.updateTable('blocks').where('blocked_by', '=', email)
  await blocks.set({ blocked_by: ERASED }).execute()
  const key = tx.selectFrom('users').select('email_key').where('id', '=', userId)
  await tx
    .deleteFrom('codes')
    .where((eb) => eb.or([eb('user_id', '=', userId), eb('email_key', '=', key)]))
    .execute()
  await sql`DELETE FROM moderators m USING users u WHERE u.id = ${userId}
    AND m.email_key = u.email_key AND lower(m.email COLLATE "C") = lower(u.email COLLATE "C")`.execute(
    tx,
  )
  await tx.deleteFrom('users').where('id', '=', userId).execute()
}

export type DeletionState = { id: string; registeredAt: string; deletedAt: string | null }

export async function selectDeletionStates(
  db: Queryable,
  userId: string | null = null,
): Promise<DeletionState[]> {
  const exact = (time: string) =>
    sql.raw(`to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)
  const { rows } = await sql<DeletionState>`
    SELECT id, ${exact('created_at')} AS "registeredAt", ${exact('deleted_at')} AS "deletedAt"
    FROM users WHERE (deleted_at IS NOT NULL OR is_returning)
      AND (${userId}::bigint IS NULL OR id = ${userId}) ORDER BY id`.execute(db)
  return rows
}

/** Marks users as deleted or returning for `move-accounts`. Returns the number of deleted users. */
export async function repeatDeletions(db: Queryable, states: DeletionState[]): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    WITH marked AS (
      UPDATE users SET deleted_at = listed."deletedAt", is_returning = listed."deletedAt" IS NULL
      FROM jsonb_to_recordset(${JSON.stringify(states)}::jsonb)
        AS listed(id bigint, "registeredAt" timestamptz, "deletedAt" timestamptz)
      WHERE users.id = listed.id AND created_at = "registeredAt"
        AND deleted_at IS DISTINCT FROM "deletedAt"
      RETURNING users.id, deleted_at
    ), closed AS (
      DELETE FROM sessions WHERE user_id IN (SELECT id FROM marked WHERE deleted_at IS NOT NULL)
    )
    SELECT id FROM marked WHERE deleted_at IS NOT NULL`.execute(db)
  return rows.length
}
