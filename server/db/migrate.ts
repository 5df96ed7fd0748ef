import { runMigrations as migrateQueue } from 'graphile-worker'
import { Kysely, PostgresDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import * as product from './migrations/001-product.ts'
import * as mailboxes from './migrations/003-mailboxes.ts'
import * as account from './migrations/004-account.ts'
import { surviveLostConnections } from './open.ts'

const MIGRATIONS = { '001-product': product, '003-mailboxes': mailboxes, '004-account': account }

/**
 * Brings the database at `url` to the newest shape, the mail queue's tables included. Nodes that start at once wait for
 * each other: both migrators hold a lock in the database. Rejects with the first migration's error; it is rolled back.
 */
export async function migrate(url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  surviveLostConnections(pool, () => {})
  try {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
    const { error } = await migrator.migrateToLatest()
    if (error) throw error
    await migrateQueue({ pgPool: pool })
  } finally {
    await pool.end()
  }
}
