import { type Kysely, sql } from 'kysely'

export const isAdditive = true

const STATEMENTS = [
  `ALTER TABLE site_state ADD notice text, ADD notice_since timestamptz, ADD notice_until timestamptz,
    ADD CHECK ((notice IS NULL) = (notice_since IS NULL))`,
  `CREATE VIEW notice_in_force AS
    SELECT notice AS text, notice_since AS since, notice_until AS until
    FROM site_state WHERE notice IS NOT NULL AND coalesce(notice_until > now(), true)`,
]

/** Keeps the operator's line for everybody, and says once whether it is over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
