import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import { MIGRATIONS } from '../db/migrate.ts'
import { AppError } from '../errors/app-error.ts'
import { formatSize } from '../errors/words.ts'
import type { ServerContext } from '../server-context.ts'

/** Two segments of PostgreSQL's write-ahead log: with less free space it stops. */
export const LEAST_FREE_BYTES = 32 * 1024 * 1024

const BROKEN = 'a newer version has changed the database: this node cannot write'

/** `/livez` answers while the process runs; `/readyz` is 503 while nothing can be written. */
export function serveHealth(context: ServerContext, isDraining: () => boolean): void {
  const { http, log } = context
  // These routes have no lane, so that a busy node is not taken for a dead one.
  const route = { config: { lane: 'none' }, logLevel: 'warn' } as const
  http.get('/livez', route, async () => 'ok')
  let wasBroken = false
  const logBroken = (migrations: string[]) => {
    const isBroken = migrations.length > 0
    if (isBroken && !wasBroken) log.error({ migrations }, BROKEN)
    wasBroken = isBroken
  }
  let finding: Promise<string | undefined> | undefined
  /** Calls at the same time share a check. */
  const findReason = () => {
    finding ??= findLastingFailure(context, logBroken).finally(() => {
      finding = undefined
    })
    return finding
  }
  http.get('/readyz', route, async (_request, reply) => {
    if (isDraining()) throw new AppError('UNAVAILABLE')
    const message = await findReason()
    if (message === undefined) return 'ok'
    reply.header('not-ready', 'lasting')
    throw new AppError('UNAVAILABLE', { message })
  })
}

/** Returns the reason why writes fail until an operator acts. Throws if waiting helps. */
async function findLastingFailure(
  { db, config: { databaseUrl, dataDir } }: ServerContext,
  onBroken: (migrations: string[]) => void,
): Promise<string | undefined> {
  const { rows } = await sql<{ read_only: boolean; broken: string[] }>`
    SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
      ARRAY(SELECT name FROM kysely_migration
        WHERE name <> ALL(${Object.keys(MIGRATIONS)}::text[])
          AND name NOT IN (SELECT name FROM additive_migrations)) AS broken`.execute(db)
  const { read_only, broken } = rows[0] ?? { read_only: true, broken: [] }
  onBroken(broken)
  if (broken.length > 0) return `База новее этого сервера: в ней есть ${broken.join(', ')}`
  if (read_only) throw new AppError('UNAVAILABLE')
  const isEmbedded = databaseUrl === undefined
  const isFull = isEmbedded && (await freeBytes(dataDir)) < LEAST_FREE_BYTES
  return isFull
    ? `На диске с базой данных свободно меньше ${formatSize(LEAST_FREE_BYTES)}`
    : undefined
}

export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
