import { type Insertable, sql } from 'kysely'
import type { Passkey } from '../../../contract/passkeys.ts'
import { isRepeatable } from '../../kernel/db/clock.ts'
import { isRowId, type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import type { Tables } from '../../kernel/db/tables.ts'
import { AppError } from '../../kernel/errors/app-error.ts'

const SHOWN = [
  'id',
  'name',
  unixSeconds('created_at').as('createdAt'),
  unixSeconds('used_at').$castTo<number | null>().as('usedAt'),
] as const

type Own = { id: string; userId: string }

const livePasskeys = (db: Queryable, userId: string) =>
  db.selectFrom('passkeys').where('user_id', '=', userId).where('removed_at', 'is', null)

export function selectPasskeys(db: Queryable, userId: string): Promise<Passkey[]> {
  return livePasskeys(db, userId).select(SHOWN).orderBy('id', 'desc').execute()
}

export async function selectPasskey(db: Queryable, { id, userId }: Own) {
  if (!isRowId(id)) return undefined
  return livePasskeys(db, userId).select(SHOWN).where('id', '=', id).executeTakeFirst()
}

export async function selectCredentialIds(db: Queryable, userId: string): Promise<Buffer[]> {
  const rows = await livePasskeys(db, userId).select('credential_id').execute()
  return rows.map((row) => row.credential_id)
}

export type NewPasskey = Omit<
  Insertable<Tables['passkeys']>,
  'id' | 'created_at' | 'used_at' | 'removed_at'
>

/** Adds a passkey. Returns undefined if the same one is stored. */
export function insertPasskey(tx: Queryable, passkey: NewPasskey): Promise<Passkey | undefined> {
  return tx
    .insertInto('passkeys')
    .values(passkey)
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning(SHOWN)
    .executeTakeFirst()
}

/** Names a passkey. Returns undefined if there is none. */
export async function updateName(db: Queryable, { id, userId, name }: Own & { name: string }) {
  if (!isRowId(id)) return undefined
  return db
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .returning(SHOWN)
    .executeTakeFirst()
}

/** Removes all passkeys of a user, or only `only`. Returns those that were removed. */
export async function markRemoved(tx: Queryable, userId: string, only?: string) {
  if (only !== undefined && !isRowId(only)) return []
  return tx
    .updateTable('passkeys')
    .set({ removed_at: sql<Date>`now()` })
    .where('user_id', '=', userId)
    .where('id', '=', only ?? sql<string>`id`)
    .where('removed_at', 'is', null)
    .returning(['id', 'name'])
    .execute()
}

/** Returns whether a passkey was removed and can still come back. */
export async function isRemoved(db: Queryable, { id, userId }: Own): Promise<boolean> {
  if (!isRowId(id)) return false
  const passkey = db.selectFrom('passkeys').select('id').where('id', '=', id)
  const own = passkey.where('user_id', '=', userId).where('removed_at', 'is not', null)
  return (await own.executeTakeFirst()) !== undefined
}

/** Returns the passkey that has signed; undefined if it was removed. */
export function selectSigner(db: Queryable, credentialId: Buffer) {
  return db
    .selectFrom('passkeys')
    .select(['id', 'user_id as userId', 'public_key as publicKey', 'name'])
    .where('credential_id', '=', credentialId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}

/**
 * Stores a use of a passkey. Returns false if its counter has not grown, as if the key was copied,
 * or if it was removed. Keys without a counter always send 0.
 */
export async function countUse(
  tx: Queryable,
  { id, counter, isBackedUp }: { id: string; counter: number; isBackedUp: boolean },
): Promise<boolean> {
  const used = await tx
    .updateTable('passkeys')
    .set({ counter, is_backed_up: isBackedUp, used_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .where(sql<boolean>`(counter < ${counter} OR (counter = 0 AND ${counter} = 0))`)
    .returning('id')
    .executeTakeFirst()
  return used !== undefined
}

/** Undoes a change and all later ones: keys added since are removed, and keys removed come back. */
export async function undoPasskeyChanges(
  tx: Queryable,
  { changeId, userId }: { changeId: string; userId: string },
): Promise<void> {
  await sql`WITH undone AS (
      SELECT passkey_id, is_removal FROM email_changes WHERE user_id = ${userId}
        AND passkey_id IS NOT NULL
        AND number >= (SELECT number FROM email_changes WHERE id = ${changeId})
    )
    UPDATE passkeys SET removed_at =
      CASE WHEN id IN (SELECT passkey_id FROM undone WHERE NOT is_removal) THEN now() END
    WHERE id IN (SELECT passkey_id FROM undone)`.execute(tx)
}

/** Removes keys for good once no change that could bring them back is stored. */
export async function eraseRemovedPasskeys(db: Queryable): Promise<void> {
  await sql`DELETE FROM passkeys WHERE removed_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM email_changes WHERE passkey_id = passkeys.id)`.execute(db)
}

const IS_REPEATABLE = isRepeatable('redeemed_at')
const IS_OPEN = sql<boolean>`(redeemed_at IS NULL AND expires_at > now())`

type NewOperation = Pick<
  Insertable<Tables['passkey_operations']>,
  'id' | 'purpose' | 'user_id' | 'client_hash' | 'network_client_hash' | 'device'
>

export async function insertPasskeyOperation(
  tx: Queryable,
  operation: NewOperation,
  lifeSeconds: number,
): Promise<void> {
  const expires_at = sql<Date>`now() + ${lifeSeconds} * interval '1 second'`
  await tx
    .insertInto('passkey_operations')
    .values({ ...operation, expires_at })
    .execute()
}

type Binding = { userId: string } | { clientHash: Buffer; networkClientHash: Buffer }

/**
 * Returns an operation of a user or client, if it is open or its answer can be repeated; `isOpen`
 * is which of both.
 */
export function selectPasskeyOperation(db: Queryable, id: string, bound: Binding) {
  const isBound =
    'userId' in bound
      ? sql<boolean>`(purpose = 'add' AND user_id = ${bound.userId})`
      : sql<boolean>`(purpose = 'sign-in' AND (client_hash = ${bound.clientHash}
          OR network_client_hash = ${bound.networkClientHash}))`
  return db
    .selectFrom('passkey_operations')
    .select(['device', 'user_id as userId', 'passkey_id as passkeyId', 'session_id as sessionId'])
    .select(IS_OPEN.as('isOpen'))
    .where('id', '=', id)
    .where(isBound)
    .where((eb) => eb.or([IS_OPEN, IS_REPEATABLE]))
    .executeTakeFirst()
}

type Redeemed = { id: string; userId: string; passkeyId: string; sessionId: string | null }

/** Creates the error for an operation that is too old, or of another browser. */
export const expired = () =>
  new AppError('OPERATION_EXPIRED', { message: 'Прошло слишком много времени. Попробуйте ещё раз' })

/** Ends an operation and stores its outcome. Throws OPERATION_EXPIRED if it had ended. */
export async function redeemPasskeyOperation(tx: Queryable, redeemed: Redeemed): Promise<void> {
  await tx
    .updateTable('passkey_operations')
    .set({
      redeemed_at: sql<Date>`now()`,
      user_id: redeemed.userId,
      passkey_id: redeemed.passkeyId,
      session_id: redeemed.sessionId,
    })
    .where('id', '=', redeemed.id)
    .where(IS_OPEN)
    .returning('id')
    .executeTakeFirstOrThrow(expired)
}

export async function removeExpiredPasskeyOperations(db: Queryable): Promise<void> {
  await db
    .deleteFrom('passkey_operations')
    .where('expires_at', '<', sql<Date>`now()`)
    .where((eb) => eb.not(IS_REPEATABLE))
    .execute()
}
