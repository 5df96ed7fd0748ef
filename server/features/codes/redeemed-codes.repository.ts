import { sql } from 'kysely'
import { isRepeatable, REPEAT_SECONDS } from '../../kernel/db/clock.ts'
import { NO_USER, type Queryable } from '../../kernel/db/database.ts'
import type { KnownBy } from '../../kernel/db/tables.ts'
import { type Attempt, type Client, isBoundTo } from './codes.repository.ts'

const IS_REPEATABLE = isRepeatable('redeemed_at')
const ENDS_AT = `redeemed_at + interval '${REPEAT_SECONDS} seconds'`

export type StoredOutcome<Outcome> = { userId: string; outcome: Outcome }

type NewRedeemedCode = Pick<Attempt, 'id' | 'purpose' | 'clientHash'> &
  StoredOutcome<unknown> & {
    networkClientHash: Buffer | null
    knownBy: KnownBy
    wrongCodes: number
  }

export async function insertRedeemedCode(tx: Queryable, code: NewRedeemedCode): Promise<void> {
  const { id, purpose, userId, clientHash, networkClientHash } = code
  const { knownBy, outcome, wrongCodes } = code
  await tx
    .insertInto('redeemed_codes')
    .values({
      id,
      purpose,
      user_id: userId,
      client_hash: clientHash,
      network_client_hash: networkClientHash,
      known_by: knownBy,
      outcome: JSON.stringify(outcome),
      wrong_codes: wrongCodes,
    })
    .execute()
}

function whereRedeemedBy(db: Queryable, { id, purpose, userId, ...client }: Attempt) {
  const redeemed = db
    .selectFrom('redeemed_codes')
    .where('id', '=', id)
    .where('purpose', '=', purpose)
    .where(isBoundTo(client))
    .where(IS_REPEATABLE)
  return userId === NO_USER ? redeemed : redeemed.where('user_id', '=', userId)
}

export function selectRedeemedCode(db: Queryable, attempt: Attempt) {
  return whereRedeemedBy(db, attempt).select('known_by as knownBy').executeTakeFirst()
}

/** Locks an operation that was redeemed in the last two minutes, so that its tries are counted. */
export function lockRedeemedCode(tx: Queryable, attempt: Attempt) {
  return whereRedeemedBy(tx, attempt)
    .select(['user_id as userId', 'outcome', 'wrong_codes as wrongCodes', 'known_by as knownBy'])
    .select(sql<string>`(SELECT email FROM users WHERE id = user_id)`.as('email'))
    .forUpdate()
    .executeTakeFirst()
}

export async function countWrongCode(tx: Queryable, id: string): Promise<void> {
  await tx
    .updateTable('redeemed_codes')
    .set((eb) => ({ wrong_codes: eb('wrong_codes', '+', 1) }))
    .where('id', '=', id)
    .execute()
}

/** Returns when the answer can no longer be repeated. */
export function selectRepeatEnd(db: Queryable, { id, ...client }: Pick<Attempt, 'id'> & Client) {
  return db
    .selectFrom('redeemed_codes')
    .select(sql.raw<Date>(ENDS_AT).as('expiresAt'))
    .where('id', '=', id)
    .where(isBoundTo(client))
    .where(IS_REPEATABLE)
    .executeTakeFirst()
}

export async function removeOldRedeemedCodes(db: Queryable): Promise<void> {
  await db
    .deleteFrom('redeemed_codes')
    .where((eb) => eb.not(IS_REPEATABLE))
    .execute()
}
