import { open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCounterDifferences } from '../../features/posts/counters.task.ts'
import { closeAfterTest } from '../../testing/close-after-test.ts'
import {
  BACKUP_SECRET,
  emptyDatabase,
  restoreOptions,
  sumsOf,
  writeBackup,
} from '../../testing/database/backups.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { asSuperuser, executeOn, withDatabase } from '../../testing/database/databases.ts'
import { openPostgresProxy } from '../../testing/database/postgres-proxy.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { BackupWriter, readManifest } from './backup-file.ts'
import { writeNewFile } from './backup-folder.ts'
import { createBackup } from './create-backup.service.ts'
import type { Manifest, Part } from './manifest.ts'
import type { Progress, Step } from './progress.ts'
import { restoreBackup } from './restore.service.ts'
import { EXCLUDED_TABLES } from './tables.repository.ts'
import { verifyBackup } from './verify.service.ts'

const app = await appForFile()

const options = restoreOptions(app.dataDir)

const first = join(app.dataDir, 'first.backup')
const { manifest } = await createBackup(app.databaseUrl, first, { secret: BACKUP_SECRET })

test('a backup contains every table but those named in EXCLUDED_TABLES', async () => {
  const all = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
  const rows = await executeOn(app.databaseUrl, all)
  const tables = manifest.parts.map(({ table }) => table)
  expect([...tables, ...EXCLUDED_TABLES].sort()).toEqual(
    rows.map(({ tablename }) => tablename).sort(),
  )
})

test('a table of another role beside the wall’s own is left out of a backup, even if it refers to these', async () => {
  const { databaseUrl, dataDir } = await appForTest()
  const superuser = withDatabase(asSuperuser(databaseUrl), new URL(databaseUrl).pathname.slice(1))
  await executeOn(superuser, 'CREATE TABLE strange (id bigint PRIMARY KEY REFERENCES users)')
  const path = join(dataDir, 'beside.backup')
  const { manifest } = await createBackup(databaseUrl, path, { secret: BACKUP_SECRET })
  expect(manifest.parts.map(({ table }) => table)).not.toContain('strange')
  await verifyBackup(path, { dataDir })
}, 60_000)

test('a restore names tables and columns that others have added, and leaves them out', async () => {
  const { databaseUrl, dataDir, signUp } = await appForTest()
  await executeOn(databaseUrl, 'CREATE TABLE notes (id bigint PRIMARY KEY REFERENCES users)')
  await executeOn(databaseUrl, 'ALTER TABLE users ADD COLUMN "my note" jsonb, ADD COLUMN seen int')
  const { id, username } = await signUp()
  await executeOn(databaseUrl, `UPDATE users SET seen = 7, "my note" = '{"a": "\\t"}'`)
  await executeOn(databaseUrl, 'INSERT INTO notes VALUES ($1)', [id])
  const path = join(dataDir, 'foreign.backup')
  await createBackup(databaseUrl, path, { secret: BACKUP_SECRET })
  const url = await emptyDatabase()
  const { counts } = await restoreBackup(url, path, options)
  expect(counts?.foreign.sort()).toEqual(['notes', 'users.my note', 'users.seen'])
  const users = await executeOn(url, 'SELECT * FROM users')
  expect(users).toEqual([expect.objectContaining({ id, username })])
  expect(users[0]).not.toHaveProperty('seen')
  await verifyBackup(path, { dataDir })
}, 60_000)

test('every table has a key, so that a database that is replicated accepts deletions', async () => {
  const keyless = await executeOn(
    app.databaseUrl,
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r'
      AND relnamespace IN ('public'::regnamespace, 'graphile_worker'::regnamespace)
      AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`,
  )
  expect(keyless).toEqual([])
})

test('a backup taken while people write is one snapshot, restores elsewhere to equal rows and exact counters, and verifies', async () => {
  const user = await app.signUp()
  const question = await app.publish(user, 'Первая\\.\nстрока и «кавычки»')
  let isWriting = true
  let written = 0
  const writing = (async () => {
    while (isWriting) {
      const { id } = await app.publish(user)
      await app.call('POST', `/posts/${id}/likes`, { token: user.token })
      if (written % 3 === 0) await app.reply(user, question.id)
      written++
    }
  })()
  const path = join(app.dataDir, 'load.backup')
  await expect.poll(() => written).toBeGreaterThan(5)
  const secret = BACKUP_SECRET
  const { manifest, bytes } = await createBackup(app.databaseUrl, path, { secret })
  isWriting = false
  await writing
  expect(await stat(path)).toMatchObject({ size: bytes, mode: 0o100600 })
  expect(await readManifest(path)).toEqual(manifest)

  const url = await emptyDatabase()
  await restoreBackup(url, path, options)
  const copy = await createBackup(url, join(app.dataDir, 'copy.backup'), { secret: null })
  expect(sumsOf(copy.manifest)).toEqual(sumsOf(manifest))
  expect(manifest.parts.find(({ table }) => table === 'posts')?.rows).toBeGreaterThan(5)
  const other = await appForTest({ databaseUrl: url })
  expect(await findCounterDifferences(other.db)).toEqual([])
  const verified = await verifyBackup(path)
  expect(verified.posts).toBeGreaterThan(5)
})

test('no table can be rewritten while a backup runs, whose snapshot would find it empty', async () => {
  const databaseUrl = await databaseForTest()
  await executeOn(databaseUrl, `INSERT INTO journal (actor, action) VALUES ('masha', 'invite')`)
  const line = closeAfterTest(await openPostgresProxy(databaseUrl, 'vslukh backup'))
  const isCopying = line.freezeAt(9)
  const path = join(app.dataDir, 'rewritten.backup')
  const made = createBackup(line.url, path, { secret: null })
  await isCopying
  const rewrite = 'ALTER TABLE journal ALTER COLUMN actor TYPE varchar(99)'
  const rewritten = executeOn(databaseUrl, `SET lock_timeout = '100ms'; ${rewrite}`)
  await expect(rewritten).rejects.toThrow('lock timeout')
  line.thaw()
  const { parts } = (await made).manifest
  expect(parts.find(({ table }) => table === 'journal')?.rows).toBe(1)
})

test('a backup, its verification and a restore report how much of each step is done', async () => {
  await executeOn(app.databaseUrl, 'ANALYZE')
  const reported: Parameters<Progress>[] = []
  const onProgress: Progress = (...report) => void reported.push(report)
  const lastOf = (step: Step) => reported.findLast(([one]) => one === step)
  const path = join(app.dataDir, 'reported.backup')
  const { bytes, manifest } = await createBackup(app.databaseUrl, path, {
    ...{ secret: BACKUP_SECRET, onProgress },
  })
  const rows = manifest.parts.reduce((sum, part) => sum + part.rows, 0)
  expect(lastOf('copy')).toEqual(['copy', rows, expect.toSatisfy((it) => it > 0.5 * rows)])
  for (const work of [
    () => verifyBackup(path, { onProgress }),
    async () => restoreBackup(await emptyDatabase(), path, { ...options, onProgress }),
  ]) {
    reported.length = 0
    await work()
    expect(lastOf('sum')).toEqual(['sum', bytes - 32, bytes - 32])
    expect(lastOf('load')).toEqual(['load', rows, rows])
  }
})

test('a file with any byte altered or cut off is refused by a sentence', async () => {
  const whole = await readFile(first)
  const broken = join(app.dataDir, 'broken.backup')
  const [place, change] = [fc.nat(whole.length - 1), fc.integer({ min: -100, max: 255 })]
  const isRefused = fc.asyncProperty(place, change, async (at, flip) => {
    // Without a change of this byte, the file ends before it.
    const bytes = flip <= 0 ? whole.subarray(0, at) : Buffer.from(whole)
    if (flip > 0) bytes[at] = (bytes[at] ?? 0) ^ flip
    await writeFile(broken, bytes)
    await expect(readManifest(broken)).rejects.toThrow(/повреждена|не копия стены/)
  })
  await fc.assert(isRefused, { numRuns: 300 })
  await expect(readManifest(app.dataDir)).rejects.toThrow('папка')
  await expect(readManifest(join(app.dataDir, 'none'))).rejects.toThrow('не открывается')
})

test('a backup onto an existing file is refused before any table is read', async () => {
  const path = join(app.dataDir, 'there.backup')
  await writeFile(path, 'something else')
  const onProgress = (table: string) => expect.unreachable(table)
  const made = createBackup(app.databaseUrl, path, { secret: null, onProgress })
  await expect(made).rejects.toThrow('такой файл уже есть')
  expect(await readFile(path, 'utf8')).toBe('something else')
})

test('a backup whose rows differ from its manifest is refused', async () => {
  const url = await emptyDatabase()
  const bans = manifest.parts.find(({ table }) => table === 'bans')
  const refusal = async (name: string, text: string, change: Partial<Part> = {}) => {
    const file = join(app.dataDir, name)
    await writeBackup(file, { ...manifest, sequences: [] }, async (writer) => {
      const part = await writer.addPart(Readable.from([Buffer.from(text)]))
      return bans ? [{ ...bans, ...part, ...change }] : []
    })
    return restoreBackup(url, file, options).catch((error) => error.message)
  }
  const other = { sha256: 'f'.repeat(64) }
  expect(await refusal('sums-wrong.backup', '', other)).toContain('Копия неверна: в таблице bans')
  expect(await refusal('few.backup', '')).toContain('Копия неверна: в ней нет таблицы')
  const notLoaded = 'Копия неверна: таблица bans не загружается.'
  expect(await refusal('rows.backup', 'x\u001b[31m\n')).toBe(notLoaded)
  expect(await refusal('frame.backup', '', { offset: 9, bytes: 1 })).toBe(notLoaded)
  expect(await refusal('outside.backup', '', { offset: 1e15 })).toBe(notLoaded)
})

test('a manifest that no version has written is refused in a sentence without control characters', async () => {
  const part = { ...manifest.parts[0], offset: 8, bytes: 4 }
  const inPart = (change: object) => ({ ...manifest, parts: [{ ...part, ...change }] })
  const manifests: [unknown, string][] = [
    [null, 'не копия стены'],
    [{ product: 'other' }, 'не копия стены'],
    [{ ...manifest, version: '9\u001b[2J' }, 'не копия стены'],
    [{ ...manifest, format: 2, version: '9.0.0' }, 'в формате 2, а эта версия знает формат 1'],
    [{ ...manifest, migration: '\u001b]0;x\u0007' }, '/migration'],
    [{ ...manifest, createdAt: '2026-99-01T00:00:00.000Z' }, '/createdAt'],
    [{ ...manifest, sequences: [{ table: 'posts', column: 'id', last: '-1' }] }, '/sequences/0'],
    [inPart({ offset: '8' }), '/parts/0/offset'],
    [inPart({ table: 'x\u001b' }), '/parts/0/table'],
  ]
  const file = join(app.dataDir, 'hostile.backup')
  for (const [hostile, says] of manifests) {
    const handle = await open(file, 'w')
    await new BackupWriter((chunk) => handle.appendFile(chunk)).finish(hostile as Manifest)
    await handle.close()
    const { message } = await readManifest(file).catch((error) => error)
    expect(message).toContain(says)
    expect(message).not.toMatch(/\p{Cc}/u)
  }
})

test('a file that does not get its name leaves nothing', async () => {
  const folder = await folderForTest()
  const write = async () => {
    for (const name of await readdir(folder)) await rm(join(folder, name))
  }
  await expect(writeNewFile(join(folder, 'wall.backup'), write)).rejects.toThrow('Не записано')
  expect(await readdir(folder)).toEqual([])
})
