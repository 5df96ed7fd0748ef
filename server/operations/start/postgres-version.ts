import { sql } from 'kysely'
import { withStartDatabase } from '../../kernel/db/database.ts'
import { StartError } from '../../kernel/errors/app-error.ts'

export const OLDEST_POSTGRES = 14

/** Throws StartError for an old PostgreSQL: its migrations would fail with an error of syntax. */
export async function requirePostgresVersion(url: string): Promise<void> {
  const { rows } = await withStartDatabase(url, ({ db }) =>
    sql<{ version: number }>`SELECT current_setting('server_version_num')::int AS version`.execute(
      db,
    ),
  )
  const major = Math.floor((rows[0]?.version ?? 0) / 10_000)
  if (major >= OLDEST_POSTGRES) return
  throw new StartError(
    `DATABASE_URL: там PostgreSQL ${major}, а нужна ${OLDEST_POSTGRES} или новее. Обновите сервер базы данных`,
  )
}
