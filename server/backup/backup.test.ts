import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { createDatabase, freshDatabase, withDatabase } from '../testing/databases.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'
import { BACKED_UP, LEFT_OUT } from './backed-up-tables.ts'
import { BackupWriter, type Manifest, type Part, readManifest } from './backup-file.ts'
import { createBackup } from './create-backup.service.ts'
import { restoreBackup } from './restore.service.ts'
import { copyOut, selectTables, setCopyFormat } from './tables.repository.ts'
import { verifyBackup } from './verify.service.ts'

const SECRET = 'y'.repeat(43)
let app: TestApp
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vslukh-backup-'))
  app = await startTestApp()
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})

/** Returns the URL of a new database without any table. */
async function emptyDatabase(): Promise<string> {
  const name = `test_empty_${Date.now()}_${Math.floor(Math.random() * 1e6)}`
  await createDatabase(inject('databaseUrl'), name)
  return withDatabase(inject('databaseUrl'), name)
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return work(client).finally(() => client.end())
}

const noReplace = async (): Promise<void> => {
  throw new Error('there is a wall')
}
const known = () => ({ appSecret: SECRET, acceptNewSecret: false, dataDir: folder })
const options = (mayReplace = noReplace) => ({ actor: 'masha', known: known(), mayReplace })
/** What a manifest says of its tables, without those that a restore adds rows to. */
const sums = ({ parts }: Manifest) =>
  parts
    .filter(({ table }) => table !== 'journal')
    .map(({ table, rows, sha256 }) => ({ table, rows, sha256 }))

test('every table is either in the backup or named among those that stay out', async () => {
  const tables = await withClient(app.databaseUrl, selectTables)
  expect(tables.map(({ table }) => table).sort()).toEqual([...BACKED_UP, ...LEFT_OUT].sort())
})

test('a backup taken while people write is one snapshot, restores elsewhere to equal rows and exact counters, and verifies', async () => {
  const user = await app.signUp()
  const first = await app.publish(user, 'Первая\\.\nстрока\tи «кавычки»')
  let isWriting = true
  let written = 0
  const writing = (async () => {
    while (isWriting) {
      const { id } = await app.publish(user)
      await app.call('POST', `/posts/${id}/likes`, { token: user.token })
      if (written % 3 === 0) await app.reply(user, first.id)
      written++
    }
  })()
  const path = join(folder, 'load.backup')
  await expect.poll(() => written).toBeGreaterThan(5)
  const { manifest, bytes } = await createBackup(app.databaseUrl, path, { secret: SECRET })
  isWriting = false
  await writing
  expect(await stat(path)).toMatchObject({ size: bytes, mode: 0o100600 })
  expect(await readManifest(path)).toEqual(manifest)

  const url = await emptyDatabase()
  await restoreBackup(url, path, options())
  const copy = await createBackup(url, join(folder, 'copy.backup'), { secret: null })
  expect(sums(copy.manifest)).toEqual(sums(manifest))
  expect(manifest.parts.find(({ table }) => table === 'posts')?.rows).toBeGreaterThan(5)
  const other = await startTestApp({ databaseUrl: url })
  onTestFinished(() => other.close())
  expect(await findCounterDifferences(other.db)).toEqual([])
  const verified = await verifyBackup(path)
  expect(verified.posts).toBeGreaterThan(5)
}, 60_000)

test('a restore refuses a wall, a running server, another secret and a newer version, and leaves what was there', async () => {
  const path = join(folder, 'refused.backup')
  await app.signUp()
  const { manifest } = await createBackup(app.databaseUrl, path, { secret: SECRET })
  await expect(restoreBackup(app.databaseUrl, path, options())).rejects.toThrow('Остановите его')
  const other = { ...options(), known: { ...known(), appSecret: 'z'.repeat(43) } }
  const url = await emptyDatabase()
  await expect(restoreBackup(url, path, other)).rejects.toThrow('APP_SECRET не тот')
  await restoreBackup(url, path, options())
  await expect(restoreBackup(url, path, options())).rejects.toThrow('there is a wall')
  await restoreBackup(
    url,
    path,
    options(async () => {}),
  )
  const copy = await createBackup(url, join(folder, 'twice.backup'), { secret: null })
  expect(sums(copy.manifest)).toEqual(sums(manifest))

  const newer = join(folder, 'newer.backup')
  await writeBackup(newer, { ...manifest, migration: '999-future', version: '9.0.0', parts: [] })
  await expect(restoreBackup(url, newer, options())).rejects.toThrow('Копию сделала версия 9.0.0')
})

test('a backup of an older migration is migrated forward', async () => {
  const old = await emptyDatabase()
  const names = Object.keys(MIGRATIONS).slice(0, -1)
  const migrations = Object.fromEntries(names.map((name) => [name, MIGRATIONS[name] as never]))
  await migrate(old, { migrations })
  const path = join(folder, 'old.backup')
  await withClient(old, async (client) => {
    await client.query(
      `INSERT INTO users (username, email, email_key) VALUES ('olga', 'o@example.org', 'o@example.org')`,
    )
    await setCopyFormat(client)
    const shapes = await selectTables(client)
    const inOrder = BACKED_UP.flatMap((name) => shapes.filter(({ table }) => table === name))
    await writeBackup(path, { migration: names.at(-1) ?? '' }, async (writer) => {
      const parts: Part[] = []
      for (const shape of inOrder) {
        const part = await writer.addPart(copyOut(client, shape))
        parts.push({ table: shape.table, columns: shape.columns, ...part })
      }
      return parts
    })
  })
  const url = await emptyDatabase()
  await restoreBackup(url, path, options())
  const { rows } = await withClient(url, (client) =>
    client.query('SELECT username, deleted_at FROM users'),
  )
  expect(rows).toEqual([{ username: 'olga', deleted_at: null }])
  const done = await withClient(url, (client) => client.query('SELECT name FROM kysely_migration'))
  expect(done.rows.map(({ name }) => name).sort()).toEqual(Object.keys(MIGRATIONS).sort())
})

test('a file with any byte altered or cut off is refused by a sentence', async () => {
  const path = join(folder, 'whole.backup')
  await createBackup(app.databaseUrl, path, { secret: null })
  const whole = await readFile(path)
  const broken = join(folder, 'broken.backup')
  const place = fc.nat({ max: whole.length - 1 })
  await fc.assert(
    fc.asyncProperty(
      place,
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (at, flip, cut) => {
        const bytes = cut ? whole.subarray(0, at) : Buffer.from(whole)
        if (!cut) bytes[at] = (bytes[at] ?? 0) ^ flip
        await writeFile(broken, bytes)
        await expect(readManifest(broken)).rejects.toThrow(/повреждена|не копия стены/)
      },
    ),
    { numRuns: 300 },
  )
  await expect(readManifest(folder)).rejects.toThrow('папка')
  await expect(readManifest(join(folder, 'none'))).rejects.toThrow('не открывается')
})

test('of two backups into one file one is made and the other refused, and nothing else stays in the folder', async () => {
  const own = await mkdtemp(join(folder, 'two-'))
  const path = join(own, 'wall.backup')
  const make = () => createBackup(app.databaseUrl, path, { secret: null })
  const results = await Promise.allSettled([make(), make()])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refused = results.find((result) => result.status === 'rejected')
  expect(String(refused?.reason.message)).toContain('такой файл уже есть')
  expect(await readdir(own)).toEqual(['wall.backup'])
  await readManifest(path)
})

test('of two restores into one database at once, one is made and the other refused', async () => {
  const path = join(folder, 'lock.backup')
  await createBackup(app.databaseUrl, path, { secret: SECRET })
  const { url, drop } = await freshDatabase(inject('databaseUrl'))
  onTestFinished(drop)
  const results = await Promise.allSettled([1, 2].map(() => restoreBackup(url, path, options())))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

/** Writes a file in the format of a backup, whatever its manifest says. */
async function writeBackup(
  path: string,
  manifest: Partial<Manifest>,
  fill: (writer: BackupWriter) => Promise<Part[]> = async () => [],
): Promise<void> {
  const file = await open(path, 'wx')
  const writer = new BackupWriter(file)
  const parts = await fill(writer)
  await writer.finish({
    format: 1,
    product: 'vslukh',
    version: '0.0.1',
    migration: '',
    createdAt: new Date().toISOString(),
    secret: null,
    sequences: [],
    ...manifest,
    parts,
  })
  await file.close()
}
