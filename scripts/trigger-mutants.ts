import { sql } from 'kysely'
import type { Db } from '../server/kernel/db/database.ts'

type TriggerMutant = { name: string; sql: string }

/** The functions of the counting triggers, and the functions that they call. */
const FUNCTIONS = ['change_post_counts', 'count_posts', 'change_like_counts', 'count_likes']
/** A statement of PL/pgSQL that begins a line, and is not part of its control flow. */
const STATEMENT = /^ *(?:PERFORM|INSERT|UPDATE|DELETE)\b[^;]*;/gm

/** Returns a mutant without each trigger, and one without each statement of the functions. */
export async function triggerMutants(db: Db): Promise<TriggerMutant[]> {
  const functions = await sql<{ name: string; definition: string }>`
    SELECT proname AS name, pg_get_functiondef(oid) AS definition FROM pg_proc
    WHERE proname = ANY(${FUNCTIONS}) ORDER BY proname`.execute(db)
  const triggers = await sql<{ name: string; on: string }>`
    SELECT tgname AS name, tgrelid::regclass::text AS on FROM pg_trigger JOIN pg_proc p ON p.oid = tgfoid
    WHERE proname = ANY(${FUNCTIONS}) ORDER BY tgname`.execute(db)
  return [
    ...triggers.rows.map(({ name, on }) => ({
      name: `trigger ${name}`,
      sql: `DROP TRIGGER ${name} ON ${on}`,
    })),
    ...functions.rows.flatMap(({ name, definition }) =>
      [...definition.matchAll(STATEMENT)].map(({ 0: statement, index }) => ({
        name: `${name}: ${statement.trim().split('\n')[0]}`,
        sql: `${definition.slice(0, index)} NULL; ${definition.slice(index + statement.length)}`,
      })),
    ),
  ]
}
