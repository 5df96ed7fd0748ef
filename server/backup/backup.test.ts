import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import { keepRestoresAway } from '../db/restore-lock.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { createDatabase, executeOn, freshDatabase, withDatabase } from '../testing/databases.ts'
import { NODES, startTestApp, type TestApp } from '../testing/test-app.ts'
import { BACKED_UP, LEFT_OUT } from './backed-up-tables.ts'
import { BackupWriter, type Manifest, type Part, readManifest } from './backup-file.ts'
import { nameFile } from './backup-folder.ts'
import { createBackup } from './create-backup.service.ts'
import { restoreBackup } from './restore.service.ts'
import { countServers, withRestoreLock } from './scratch-schema.repository.ts'
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
  await writeBackup(newer, {
    ...manifest,
    migration: '999-future',
    needs: '999-future',
    version: '9.0.0',
    parts: [],
  })
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

test('a restore that fails at its end, or beside a server that has started meanwhile, leaves the wall and its secret as they were', {
  timeout: 60_000,
}, async () => {
  const path = join(folder, 'late.backup')
  await createBackup(app.databaseUrl, path, { secret: SECRET })
  const dataDir = await mkdtemp(join(folder, 'data-'))
  const secretFile = join(dataDir, 'app-secret')
  await writeFile(secretFile, 'the old one')
  const own = { ...options(), known: { ...known(), appSecret: undefined, dataDir } }

  const blocked = await emptyDatabase()
  // A view cannot be dropped as a table.
  await executeOn(blocked, 'CREATE VIEW bans AS SELECT 1 AS one')
  await expect(restoreBackup(blocked, path, own)).rejects.toThrow('"bans" is not a table')
  expect(await readFile(secretFile, 'utf8')).toBe('the old one')

  const database = await freshDatabase(inject('databaseUrl'))
  onTestFinished(database.drop)
  await executeOn(database.url, `INSERT INTO journal (actor, action) VALUES ('masha', 'invite')`)
  const startServer = async () => {
    const late = await startTestApp({ databaseUrl: database.url })
    onTestFinished(() => late.close())
    await expect.poll(() => withClient(database.url, countServers)).toBe(NODES)
  }
  const beside = restoreBackup(database.url, path, { ...own, mayReplace: startServer })
  await expect(beside).rejects.toThrow('Остановите его')
  expect(await readFile(secretFile, 'utf8')).toBe('the old one')
  expect(await readdir(dataDir)).toEqual(['app-secret'])
  const { rows } = await withClient(database.url, (client) =>
    client.query('SELECT actor FROM journal'),
  )
  expect(rows).toEqual([{ actor: 'masha' }])
})

test('no server starts during a restore, and no restore begins while one starts', async () => {
  const path = join(folder, 'start.backup')
  await createBackup(app.databaseUrl, path, { secret: SECRET })
  const url = await emptyDatabase()
  const lock = await keepRestoresAway(url)
  await expect(restoreBackup(url, path, options())).rejects.toThrow('запускается сервер')
  await lock[Symbol.asyncDispose]()
  await withRestoreLock(url, () => expect(keepRestoresAway(url)).rejects.toThrow('восстанавливают'))
})

test('a restore that is interrupted leaves the wall that was there and no rows beside it', async () => {
  const path = join(folder, 'interrupted.backup')
  await createBackup(app.databaseUrl, path, { secret: SECRET })
  const database = await freshDatabase(inject('databaseUrl'))
  onTestFinished(database.drop)
  const interrupting = new AbortController()
  const onProgress = (table: string) => void (table === 'posts' && interrupting.abort())
  const { signal } = interrupting
  const interrupted = restoreBackup(database.url, path, { ...options(), onProgress, signal })
  await expect(interrupted).rejects.toThrow('aborted')
  const { rows } = await withClient(database.url, (client) =>
    client.query(
      `SELECT to_regnamespace('vslukh_restore') AS left, to_regclass('posts')::text AS there`,
    ),
  )
  expect(rows).toEqual([{ left: null, there: 'posts' }])
})

test('a database that a newer version has migrated additively is backed up whole, and this version verifies and restores it', {
  timeout: 60_000,
}, async () => {
  const newer = await startTestApp()
  onTestFinished(() => newer.close())
  const user = await newer.signUp()
  await newer.publish(user)
  for (const change of [
    'CREATE TABLE moods (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text)',
    `INSERT INTO moods (name) VALUES ('glad')`,
    'ALTER TABLE posts ADD mood bigint REFERENCES moods',
    'UPDATE posts SET mood = 1',
    `INSERT INTO kysely_migration VALUES ('900-moods', 'now')`,
    `INSERT INTO additive_migrations VALUES ('900-moods')`,
  ]) {
    await executeOn(newer.databaseUrl, change)
  }
  const path = join(folder, 'additive.backup')
  const { manifest } = await createBackup(newer.databaseUrl, path, { secret: SECRET })
  const tables = manifest.parts.map(({ table }) => table)
  // The newer version loads the parts in this order, with foreign keys in force.
  expect(tables.indexOf('moods')).toBeLessThan(tables.indexOf('posts'))
  expect(tables.filter((table) => table !== 'moods').sort()).toEqual([...BACKED_UP].sort())
  expect(manifest.migration).toBe('900-moods')
  expect((await verifyBackup(path)).posts).toBe(1)
  const url = await emptyDatabase()
  await restoreBackup(url, path, options())
  const { rows } = await withClient(url, (client) => client.query('SELECT * FROM posts'))
  expect(rows).toHaveLength(1)
  expect(Object.keys(rows[0])).not.toContain('mood')
})

test('a backup whose rows are others than its manifest says, or of another format, is refused', async () => {
  const path = join(folder, 'sums.backup')
  const { manifest } = await createBackup(app.databaseUrl, path, { secret: null })
  const bans = manifest.parts.find(({ table }) => table === 'bans')
  const written = (name: string, change: Partial<Manifest>, sha256 = 'f'.repeat(64)) =>
    writeBackup(join(folder, name), { ...manifest, ...change }, async (writer) => {
      const part = await writer.addPart(Readable.from([Buffer.from('')]))
      return bans ? [{ ...bans, ...part, sha256 }] : []
    })
  await written('sums-wrong.backup', { sequences: [] })
  await expect(verifyBackup(join(folder, 'sums-wrong.backup'))).rejects.toThrow(
    'Копия неверна: в таблице bans',
  )
  await written('format.backup', { format: 2 as 1, version: '9.0.0' })
  await expect(readManifest(join(folder, 'format.backup'))).rejects.toThrow('в формате 2')
  await written('product.backup', { product: 'other' as 'vslukh' })
  await expect(readManifest(join(folder, 'product.backup'))).rejects.toThrow('не копия стены')
})

test('on a disk without hard links a backup still gets its name, and replaces no file', async () => {
  const own = await mkdtemp(join(folder, 'links-'))
  const noLinks = async () => {
    throw Object.assign(new Error('no links'), { code: 'EPERM' })
  }
  const [unfinished, path] = [join(own, '.new'), join(own, 'wall.backup')]
  await writeFile(unfinished, 'rows')
  await nameFile(unfinished, path, noLinks)
  expect(await readFile(path, 'utf8')).toBe('rows')
  await writeFile(unfinished, 'others')
  await expect(nameFile(unfinished, path, noLinks)).rejects.toThrow('EEXIST')
  expect(await readFile(path, 'utf8')).toBe('rows')
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
