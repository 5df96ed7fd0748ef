import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../server/kernel/config/config.ts'
import { openDatabase } from '../server/kernel/db/database.ts'
import { completeQueue, requireMigrated } from '../server/kernel/db/migrate.ts'
import { connectionStringFor } from '../server/operations/embedded-postgres/address.ts'
import { DATABASE, hasCluster } from '../server/operations/embedded-postgres/cluster.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { DataDirTaken, isServed } from '../server/operations/embedded-postgres/lock.ts'
import { findRunning } from '../server/operations/embedded-postgres/pid-file.ts'
import { Refusal, type Wall } from './command.ts'
import { interruption } from './terminal.ts'

/** The longest wait for another command, or for a server that starts, stops or is frozen. */
const WAIT_MS = 30_000

/** Commands may read whole tables, so a statement may take an hour. */
const POOL = { connections: 2, statementTimeoutMs: 3_600_000, applicationName: 'vslukh operator' }

/**
 * Connects to DATABASE_DIRECT_URL or DATABASE_URL, or else to the embedded database, which it
 * starts if no server runs it, and stops when the wall is disposed of. Throws Refusal or StartError.
 */
export async function openWall(config: Config, say: (line: string) => void): Promise<Wall> {
  await using opening = new AsyncDisposableStack()
  const { url, stop, isTemporary = false } = await findDatabase(config, say)
  opening.defer(stop)
  const db = opening.use(openDatabase(url, () => {}, POOL).db)
  await requireMigrated(db)
  await completeQueue(db, url)
  const open = opening.move()
  return { url, db, isTemporary, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

/** The embedded databases that this process has started. */
const startedDatabases: Promise<FoundDatabase>[] = []

export async function stopDatabases(): Promise<void> {
  for (const result of await Promise.allSettled(startedDatabases)) {
    if (result.status === 'fulfilled') await result.value.stop()
  }
}

export async function hasDatabase({ databaseUrl, dataDir }: Config): Promise<boolean> {
  return databaseUrl !== undefined || hasCluster(clusterOf(dataDir))
}

const clusterOf = (dataDir: string) => join(dataDir, 'postgres')

type FoundDatabase = { url: string; stop: () => Promise<void>; isTemporary?: boolean }

/**
 * Returns the URL of the wall's database, which may have no tables, and `stop` to leave it. Creates
 * the embedded database only with `mayCreate`. Throws Refusal or StartError.
 */
export async function findDatabase(
  { databaseUrl, databaseDirectUrl, dataDir }: Config,
  say: (line: string) => void,
  { mayCreate = false } = {},
): Promise<FoundDatabase> {
  const nothing = async () => {}
  if (databaseUrl !== undefined) return { url: databaseDirectUrl ?? databaseUrl, stop: nothing }
  const cluster = clusterOf(dataDir)
  if (!mayCreate && !(await hasCluster(cluster))) {
    throw new Refusal(
      `В ${dataDir} нет базы данных. Укажите DATA_DIR или DATABASE_URL, с которыми запущен сервер, ` +
        'или файл с ними: --env-file',
    )
  }
  const since = performance.now()
  for (let tries = 1; ; tries++) {
    const isThere = await hasCluster(cluster)
    const running = isThere ? await findRunning(await realpath(cluster)) : undefined
    const url = running?.address && connectionStringFor(running.address, DATABASE, DATABASE)
    if (url !== undefined && (await isServed(url))) return { url, stop: nothing }
    const starting = startAlone(dataDir, tries === 1 ? say : () => {})
    startedDatabases.push(starting)
    try {
      return await starting
    } catch (error) {
      if (!(error instanceof DataDirTaken) || performance.now() - since > WAIT_MS) throw error
      if (tries === 1) {
        say('База данных занята другой командой или сервером, который запускается. Ждём…')
      }
    }
  }
}

async function startAlone(dataDir: string, say: (line: string) => void): Promise<FoundDatabase> {
  const options = { dataDir, say, signal: interruption }
  const { connectionString: url, stop } = await startEmbeddedPostgres(options)
  return { url, stop, isTemporary: true }
}
