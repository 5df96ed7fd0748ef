import { sql } from 'kysely'
import { hasRow, type Queryable } from '../../kernel/db/database.ts'
import { appendToJournal } from '../../kernel/journal/journal.ts'
import { emailKey } from '../../kernel/mail/email-address.ts'

export function isModerator(db: Queryable, userId: string): Promise<boolean> {
  return hasRow(db.selectFrom('moderator_users').select('user_id').where('user_id', '=', userId))
}

export function selectEmail(db: Queryable, userId: string): Promise<{ email: string } | undefined> {
  return db.selectFrom('users').select('email').where('id', '=', userId).executeTakeFirst()
}

type ModeratorChange = { email: string; actor: string }

/** Adds a moderator, whose name is marked if `isMarked`. Returns false if the address was one's before. */
export async function addModerator(
  tx: Queryable,
  { email, actor, isMarked }: ModeratorChange & { isMarked: boolean },
) {
  const { numAffectedRows } = await sql`INSERT INTO moderators (email, email_key, is_marked)
    VALUES (${email}, ${emailKey(email)}, ${isMarked}) ON CONFLICT DO NOTHING`.execute(tx)
  if (numAffectedRows === 0n) return false
  await appendToJournal(tx, { actor, action: 'moderator.add', details: { email } })
  return true
}

/** Removes a moderator, with effect on the next call. Returns false if there was none. */
export async function removeModerator(tx: Queryable, { email, actor }: ModeratorChange) {
  const { numAffectedRows } = await sql`DELETE FROM moderators
    WHERE lower(email COLLATE "C") = lower(${email}::text COLLATE "C")`.execute(tx)
  if (numAffectedRows === 0n) return false
  await appendToJournal(tx, { actor, action: 'moderator.remove', details: { email } })
  return true
}

export function selectModerators(db: Queryable) {
  return db
    .selectFrom('moderators')
    .leftJoin('users', (join) =>
      join
        .onRef('users.email_key', '=', 'moderators.email_key')
        .on(sql`lower(users.email COLLATE "C")`, '=', sql`lower(moderators.email COLLATE "C")`),
    )
    .leftJoin('blocks_in_force as block', 'block.user_id', 'users.id')
    .select(['moderators.email', 'added_at', 'is_marked', 'users.username'])
    .select(sql<boolean>`block.user_id IS NOT NULL`.as('is_blocked'))
    .orderBy('moderators.email')
    .execute()
}

/** Leaves out the addresses of removed moderators, whom MODERATOR_EMAIL may still name. */
export async function withoutRemoved(db: Queryable, emails: string[]): Promise<string[]> {
  const acts = await db
    .selectFrom('journal')
    .select(['action', sql<string>`lower(details->>'email' COLLATE "C")`.as('email')])
    .where('action', 'in', ['moderator.add', 'moderator.remove'])
    .orderBy('id')
    .execute()
  const last = new Map(acts.map(({ email, action }) => [email, action]))
  return emails.filter((email) => last.get(email.toLowerCase()) !== 'moderator.remove')
}

export function hadModerator(db: Queryable): Promise<boolean> {
  const acts = db.selectFrom('journal').select('id').where('action', '=', 'moderator.add')
  return hasRow(acts.limit(1))
}
