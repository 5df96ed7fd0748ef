import { runMigrations as migrateQueue } from 'graphile-worker'
import { Kysely, PostgresDialect } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import * as product from './migrations/001-product.ts'
import * as posts from './migrations/002-posts.ts'
import { surviveLostConnections } from './open.ts'

const MIGRATIONS = { '001-product': product, '002-posts': posts }

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
