import { hash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { CurrentUser } from '../../../contract/account.ts'
import { isRepeatable } from '../../kernel/db/clock.ts'
import { type Queryable, unixSeconds } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { emailKey, mailboxOf } from '../../kernel/mail/email-address.ts'
import { removeExpiredReleases, selectUsernameRelease } from './usernames.repository.ts'

const CURRENT_USER = ['id', 'username', 'email'] as const

/** Creates the error for an account that was erased after its session was checked. */
const erasedAccountError = () => new AppError('UNAUTHORIZED')

export function selectUser(db: Queryable, id: string): Promise<CurrentUser> {
  const user = db.selectFrom('users').select(CURRENT_USER).where('id', '=', id)
  return user.executeTakeFirstOrThrow(erasedAccountError)
}

export async function selectCurrentUser(db: Queryable, id: string): Promise<CurrentUser> {
  const { isModerator, hasNewOutcomes, lastRemoval, reason, until, ...user } = await db
    .selectFrom('users')
    .leftJoin('blocks_in_force as b', 'b.user_id', 'users.id')
    .select([...CURRENT_USER, 'b.reason', unixSeconds('b.until').as('until')])
    .select([
      sql<boolean>`EXISTS (SELECT FROM moderator_users
        WHERE user_id = users.id)`.as('isModerator'),
      sql<boolean>`EXISTS (SELECT FROM reports
        WHERE reporter_id = users.id AND state <> 'open' AND NOT is_seen)`.as('hasNewOutcomes'),
      sql<number | null>`(SELECT ${unixSeconds('max(hidden_at)')} FROM posts
        WHERE owner_id = users.id AND hidden_for = 'removed')`.as('lastRemoval'),
    ])
    .where('id', '=', id)
    .executeTakeFirstOrThrow(erasedAccountError)
  return {
    ...user,
    ...(isModerator && { isModerator: true as const }),
    ...(hasNewOutcomes && { hasNewOutcomes: true as const }),
    ...(lastRemoval !== null && { lastRemoval }),
    ...(reason !== null && { block: { reason, until } }),
  }
}

function selectByEmail(db: Queryable, email: string) {
  return db.selectFrom('users').select(CURRENT_USER).where('email_key', '=', emailKey(email))
}

export function selectUserByEmail(db: Queryable, email: string): Promise<CurrentUser | undefined> {
  return selectByEmail(db, email).executeTakeFirst()
}

export function lockUserByEmail(tx: Queryable, email: string): Promise<CurrentUser | undefined> {
  return selectByEmail(tx, email).forNoKeyUpdate().executeTakeFirst()
}

type NewUser = {
  email: string
  username: string
  networkHash?: Buffer | null
  consentVersion?: string | null
}

/** Adds a user. Returns undefined if the e-mail is taken, or the name taken or just released. */
export async function insertUser(
  tx: Queryable,
  { email, username, networkHash = null, consentVersion = null }: NewUser,
): Promise<CurrentUser | undefined> {
  const { rows } = await sql<CurrentUser>`
    INSERT INTO users (username, email, email_key, mailbox, network_hash, network_group,
      consent_version, consented_at)
    SELECT ${username}, ${email}, ${emailKey(email)}, ${mailboxOf(email)}, ${networkHash}::bytea,
      CASE WHEN ${networkHash}::bytea IS NOT NULL THEN coalesce((SELECT network_group FROM users
        WHERE network_hash = ${networkHash} ORDER BY id LIMIT 1), gen_random_uuid()) END,
      ${consentVersion}::text, CASE WHEN ${consentVersion}::text IS NOT NULL THEN now() END
    WHERE NOT EXISTS (${selectUsernameRelease(tx, username)})
    ON CONFLICT DO NOTHING RETURNING id, username, email`.execute(tx)
  return rows[0]
}

export async function updateUsername(tx: Queryable, id: string, username: string): Promise<void> {
  await tx.updateTable('users').set({ username }).where('id', '=', id).execute()
}

export async function updateEmail(tx: Queryable, id: string, email: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ email, email_key: emailKey(email), mailbox: mailboxOf(email) })
    .where('id', '=', id)
    .execute()
}

const IS_UNDO_REPEATABLE = isRepeatable('undone_at')

/** The time in which a change can be undone: enough for a weekend without mail. */
const EMAIL_UNDO_SECONDS = 3 * 86_400

const UNDO_END = sql<Date>`now() + ${EMAIL_UNDO_SECONDS} * interval '1 second'`

/** A change of the e-mail, or of a passkey of an account with this e-mail. */
type NewChange = {
  userId: string
  oldEmail: string
  passkey?: { id: string; isRemoval: boolean } | undefined
}

/**
 * Adds a change. Earlier changes can be undone for as long as this one, so that an owner can always
 * undo what a thief of the account has changed since.
 */
export async function insertEmailChange(
  tx: Queryable,
  { userId, oldEmail, passkey }: NewChange,
): Promise<{ id: string; expires_at: Date }> {
  await prolongEmailChanges(tx, userId)
  return tx
    .insertInto('email_changes')
    .values({
      id: randomBytes(16).toString('hex'),
      user_id: userId,
      old_email: oldEmail,
      passkey_id: passkey?.id ?? null,
      is_removal: passkey?.isRemoval ?? false,
      expires_at: UNDO_END,
    })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow()
}

const PASSKEY_NAME = sql<string | null>`(SELECT name FROM passkeys
  WHERE id = email_changes.passkey_id)`.as('passkeyName')

/** Returns the changes that can be undone for three more days. */
export function prolongEmailChanges(tx: Queryable, userId: string) {
  return tx
    .updateTable('email_changes')
    .set({ expires_at: UNDO_END })
    .where('user_id', '=', userId)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['id', 'old_email as oldEmail', 'expires_at as expiresAt'])
    .returning(['is_removal as isRemoval', PASSKEY_NAME])
    .execute()
}

export async function findEmailChangeOwner(db: Queryable, id: string): Promise<string | undefined> {
  const change = db.selectFrom('email_changes').select('user_id').where('id', '=', id)
  return (await change.executeTakeFirst())?.user_id
}

/** `isUndone` is whether its undo can be repeated: a browser may have lost the answer. */
export function selectEmailChange(tx: Queryable, id: string) {
  return tx
    .selectFrom('email_changes')
    .select(['old_email as oldEmail', sql<boolean>`expires_at > now()`.as('isLive')])
    .select(IS_UNDO_REPEATABLE.as('isUndone'))
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Ends a change, so that its undo can only be repeated, and removes all later ones. */
export async function endEmailChange(
  tx: Queryable,
  { id, userId }: { id: string; userId: string },
): Promise<void> {
  await tx
    .deleteFrom('email_changes')
    .where('user_id', '=', userId)
    .where('number', '>', (eb) =>
      eb.selectFrom('email_changes').select('number').where('id', '=', id),
    )
    .execute()
  await tx
    .updateTable('email_changes')
    .set({ expires_at: sql<Date>`now()`, undone_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute()
}

export async function removeExpiredAccountRows(db: Queryable): Promise<void> {
  await db
    .deleteFrom('email_changes')
    .where('expires_at', '<', sql<Date>`now()`)
    .where((eb) => eb.not(IS_UNDO_REPEATABLE))
    .execute()
  await removeExpiredReleases(db)
  await joinNetworkGroups(db)
  await sql`UPDATE users SET network_hash = NULL
    WHERE network_hash IS NOT NULL AND created_at < now() - interval '30 days'`.execute(db)
}

/** Gives users of one network one group: two who registered at the same moment have two. */
async function joinNetworkGroups(db: Queryable): Promise<void> {
  await sql`UPDATE users SET network_group = shared.id
    FROM (
      SELECT network_hash, coalesce((array_agg(network_group ORDER BY users.id)
        FILTER (WHERE network_group IS NOT NULL))[1], gen_random_uuid()) AS id
      FROM users WHERE network_hash IS NOT NULL GROUP BY network_hash
    ) AS shared
    WHERE users.network_hash = shared.network_hash
      AND users.network_group IS DISTINCT FROM shared.id`.execute(db)
}

export async function storeConsentText(tx: Queryable, text: string): Promise<string> {
  const version = hash('sha256', text).slice(0, 12)
  await tx
    .insertInto('consent_texts')
    .values({ version, text })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return version
}
