import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { PostgresCluster } from './postgres-cluster.ts'

/** So many rows are more than the standbys' own work reads. */
const ENOUGH = 500

/** Resolves when standbys have read some hundred rows of posts by an index under the load, as PostgreSQL itself counts them. */
export async function standbysReadRows(cluster: PostgresCluster): Promise<void> {
  const before = await countRows(cluster)
  while ((await countRows(cluster)) - before < ENOUGH) await delay(200)
}

/** The rows of posts that the machines which are standbys now have read since they were started. */
async function countRows({ machines, urlOf }: PostgresCluster): Promise<number> {
  const counts = await Promise.all(
    machines.map(async (machine) => {
      const client = new pg.Client(urlOf(machine))
      try {
        await client.connect()
        const { rows } = await client.query(`SELECT idx_tup_fetch AS count FROM pg_stat_user_tables
          WHERE relname = 'posts' AND pg_is_in_recovery()`)
        return Number(rows[0]?.count ?? 0)
      } catch {
        // A machine whose PostgreSQL was killed.
        return 0
      } finally {
        await client.end().catch(() => {})
      }
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
