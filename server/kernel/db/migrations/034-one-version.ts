import { type Kysely, sql } from 'kysely'

/** The release before reads the table with every list. */
export const isAdditive = false

const STATEMENTS = [
  'DROP TRIGGER post_changed ON posts',
  'DROP TRIGGER post_gone ON posts',
  'DROP TRIGGER owner_changed ON users',
  'DROP FUNCTION note_post_change()',
  'DROP TABLE post_changes',
]

/** Drops what 027 made: a node hears of changes by notifications alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
