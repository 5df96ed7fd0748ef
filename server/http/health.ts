import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { batchCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'

/** Serves `/livez`, which answers while the process runs, and `/readyz`, which also needs the database. */
export function serveHealth(app: FastifyInstance, db: Db): void {
  app.get('/livez', { schema: { hide: true }, logLevel: 'warn' }, async () => 'ok')
  // Checks that come at once share one query.
  const ping = batchCalls(async (calls: undefined[]) => {
    await sql`SELECT 1`.execute(db)
    return calls
  })
  app.get('/readyz', { schema: { hide: true }, logLevel: 'warn' }, async () => {
    await ping(undefined)
    return 'ok'
  })
}
