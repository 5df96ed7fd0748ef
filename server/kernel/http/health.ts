import { statfs } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { BatchedCalls } from '../db/batch-calls.ts'
import type { Db } from '../db/database.ts'
import { MIGRATIONS } from '../db/migrate.ts'
import { AppError } from '../errors/app-error.ts'

/** Two segments of PostgreSQL's write-ahead log: with less it stops rather than lose a change. */
export const LEAST_FREE_BYTES = 32 * 1024 * 1024

type Readiness = {
  db: Db
  /** Undefined if the database is on another machine, whose disk is not visible. */
  databaseFolder: string | undefined
  isDraining: () => boolean
}

/** Of a 503 of `/readyz` whose reason, which the message states, does not pass by waiting. */
const LASTING_HEADER = 'not-ready'

/** Why nothing can be written until somebody acts. */
class LastingReason extends AppError {
  constructor(message: string) {
    super('UNAVAILABLE', { message })
  }
}

/** `/livez` answers while the process runs; `/readyz` is 503 while nothing can be written. */
export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  const { isDraining } = readiness
  // Always answered, so that a busy node is not taken for a dead one.
  const route = { config: { lane: 'none' }, schema: { hide: true }, logLevel: 'warn' } as const
  app.get('/livez', route, async () => 'ok')
  let wasBroken = false
  const noteBroken = (migrations: string[]) => {
    const isBroken = migrations.length > 0
    if (isBroken && !wasBroken) {
      app.log.error(
        { migrations },
        'a newer version has changed the database: this node cannot write',
      )
    }
    wasBroken = isBroken
  }
  const checks = new BatchedCalls(async (calls: undefined[]) => {
    await requireWritable(readiness, noteBroken)
    return calls
  })
  app.get('/readyz', route, async (_request, reply) => {
    if (isDraining()) throw new AppError('UNAVAILABLE')
    await checks.call(undefined).catch((error) => {
      if (error instanceof LastingReason) reply.header(LASTING_HEADER, 'lasting')
      throw error
    })
    return 'ok'
  })
}

async function requireWritable(
  { db, databaseFolder }: Readiness,
  onBroken: (migrations: string[]) => void,
): Promise<void> {
  const { rows } = await sql<{ read_only: boolean; broken: string[] }>`
    SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
      ARRAY(SELECT name FROM kysely_migration
        WHERE name <> ALL(${Object.keys(MIGRATIONS)}::text[])
          AND name NOT IN (SELECT name FROM additive_migrations)) AS broken`.execute(db)
  const { read_only, broken } = rows[0] ?? { read_only: true, broken: [] }
  onBroken(broken)
  if (broken.length > 0) {
    throw new LastingReason(`База новее этого сервера: в ней есть ${broken.join(', ')}`)
  }
  if (read_only) throw new AppError('UNAVAILABLE')
  if (databaseFolder !== undefined && (await freeBytes(databaseFolder)) < LEAST_FREE_BYTES) {
    const least = LEAST_FREE_BYTES / 1024 / 1024
    throw new LastingReason(`На диске с базой данных свободно меньше ${least} МиБ`)
  }
}

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
