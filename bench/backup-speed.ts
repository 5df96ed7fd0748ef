import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../server/kernel/db/migrate.ts'
import { createBackup } from '../server/operations/backup/create-backup.service.ts'
import { restoreBackup } from '../server/operations/backup/restore.service.ts'
import { verifyBackup } from '../server/operations/backup/verify.service.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { seed } from './data-set.ts'

/** Measures backup, verification and restore. The argument is the number of posts, and of likes. */
const posts = Number(process.argv[2] ?? 1_000_000)
const folder = await mkdtemp(join(tmpdir(), 'vslukh-bench-backup-'))
const secret = 'a-secret-that-only-this-measurement-knows'

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const since = performance.now()
  const result = await work()
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  console.log(`${name}: ${seconds} s (load ${loadavg()[0]?.toFixed(1)})`)
  return result
}

async function withPostgres(name: string, work: (url: string) => Promise<void>): Promise<void> {
  const fail = (error: Error) => {
    throw error
  }
  const dataDir = join(folder, name)
  const postgres = await startEmbeddedPostgres({ dataDir, say() {}, onLost: fail })
  await work(postgres.connectionString).finally(postgres.stop)
}

try {
  const file = join(folder, 'wall.backup')
  await withPostgres('from', async (url) => {
    await migrate(url)
    const users = Math.max(10, Math.ceil(posts / 20))
    await timed('seed', () => seed(url, { posts, users, likes: posts }))
    const { bytes } = await timed('backup', () => createBackup(url, file, { secret }))
    console.log(`size: ${(bytes / 1e6).toFixed(1)} MB`)
  })
  const known = { appSecret: secret, acceptNewSecret: false, dataDir: folder, backupDir: undefined }
  const options = { actor: 'bench', known, mayReplace: async () => {} }
  await withPostgres('to', async (url) => {
    await timed('restore', () => restoreBackup(url, file, options))
  })
  await timed('verify', () => verifyBackup(file))
} finally {
  await rm(folder, { recursive: true, force: true })
}
