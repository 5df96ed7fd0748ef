import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { startEmbeddedPostgres } from '../../server/operations/embedded-postgres/embedded-postgres.ts'
import { asSuperuser, executeOn } from '../../server/testing/databases.ts'

const run = promisify(execFile)

/**
 * An embedded PostgreSQL that receives every change of a primary, and shows it when it has replayed
 * it.
 */
export type Standby = Awaited<ReturnType<typeof startStandby>>

/**
 * Starts a primary in a new folder. The caller closes it. PostgreSQL's programs for copying a
 * running server do not come along, so a standby is made from a copy of its files.
 */
export async function startPrimary() {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-primary-'))
  const postgres = await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  return {
    url: postgres.connectionString,
    dataDir,
    async close(): Promise<void> {
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Starts a standby of a primary. The caller closes it. */
export async function startStandby(primary: { url: string; dataDir: string }) {
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-standby-'))
  const cluster = join(dataDir, 'postgres')
  await copyCluster(primary, cluster)
  const { searchParams, port } = new URL(primary.url)
  const source = `host=${searchParams.get('host')} port=${port || 5432} user=postgres`
  await writeFile(join(cluster, 'standby.signal'), '')
  await writeFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
  const postgres = await startEmbeddedPostgres({ dataDir, say() {}, onLost() {} })
  const url = postgres.connectionString
  return {
    url,
    /** Stops showing changes, which it still receives. */
    pause: () => executeOn(asSuperuser(url), 'SELECT pg_wal_replay_pause()'),
    resume: () => executeOn(asSuperuser(url), 'SELECT pg_wal_replay_resume()'),
    stop: () => postgres.stop(),
    async close(): Promise<void> {
      await postgres.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Copies the files of a running server between the two calls that PostgreSQL's manual names for
 * that (25.3.3).
 */
async function copyCluster({ url, dataDir }: { url: string; dataDir: string }, to: string) {
  const client = new pg.Client(asSuperuser(url))
  await client.connect()
  try {
    await client.query(`SELECT pg_backup_start('standby', true)`)
    await run('cp', ['-a', join(dataDir, 'postgres'), to])
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()')
    await rm(join(to, 'postmaster.pid'), { force: true })
    await writeFile(join(to, 'backup_label'), rows[0].labelfile)
  } finally {
    await client.end()
  }
}
