import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { batchCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'

/** `/livez` answers while the process lives, `/readyz` while the database does too. */
export function serveHealth(app: FastifyInstance, db: Db): void {
  app.get('/livez', { schema: { hide: true }, logLevel: 'warn' }, async () => 'ok')
  // Whoever asks at once shares one look.
  const look = batchCalls(async (asked: undefined[]) => {
    await sql`SELECT 1`.execute(db)
    return asked
  })
  app.get('/readyz', { schema: { hide: true }, logLevel: 'warn' }, async () => {
    await look(undefined)
    return 'ok'
  })
}
