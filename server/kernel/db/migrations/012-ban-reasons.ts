import { type Kysely, sql } from 'kysely'

export const isAdditive = true

/** Keeps why a ban is there and who added it. Nobody knows of those that were there before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE bans ADD reason text, ADD actor text`.execute(db)
}
