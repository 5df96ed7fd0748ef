import { mkdtemp, open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCounterDifferences } from '../../features/posts/counters.task.ts'
import {
  BACKUP_SECRET,
  emptyDatabase,
  restoreOptions,
  sumsOf,
  writeBackup,
} from '../../testing/backups.ts'
import { executeOn } from '../../testing/databases.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { BackupWriter, readManifest } from './backup-file.ts'
import { nameFile } from './backup-folder.ts'
import { createBackup } from './create-backup.service.ts'
import type { Manifest, Part } from './manifest.ts'
import { restoreBackup } from './restore.service.ts'
import { LEFT_OUT } from './tables.repository.ts'
import { verifyBackup } from './verify.service.ts'

const app = await appForFile()

const options = (mayReplace?: () => Promise<void>) => restoreOptions(app.dataDir, mayReplace)

test('a backup contains every table but those named in LEFT_OUT', async () => {
  const { manifest } = await createBackup(app.databaseUrl, join(app.dataDir, 'all.backup'), {
    secret: null,
  })
  const rows = await executeOn(
    app.databaseUrl,
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`,
  )
  const tables = manifest.parts.map(({ table }) => table)
  expect([...tables, ...LEFT_OUT].sort()).toEqual(rows.map(({ tablename }) => tablename).sort())
})

test('a backup taken while people write is one snapshot, restores elsewhere to equal rows and exact counters, and verifies', async () => {
  const user = await app.signUp()
  const first = await app.publish(user, 'Первая\\.\nстрока и «кавычки»')
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
  const path = join(app.dataDir, 'load.backup')
  await expect.poll(() => written).toBeGreaterThan(5)
  const { manifest, bytes } = await createBackup(app.databaseUrl, path, { secret: BACKUP_SECRET })
  isWriting = false
  await writing
  expect(await stat(path)).toMatchObject({ size: bytes, mode: 0o100600 })
  expect(await readManifest(path)).toEqual(manifest)

  const url = await emptyDatabase()
  await restoreBackup(url, path, options())
  const copy = await createBackup(url, join(app.dataDir, 'copy.backup'), { secret: null })
  expect(sumsOf(copy.manifest)).toEqual(sumsOf(manifest))
  expect(manifest.parts.find(({ table }) => table === 'posts')?.rows).toBeGreaterThan(5)
  const other = await appForTest({ databaseUrl: url })
  expect(await findCounterDifferences(other.db)).toEqual([])
  const verified = await verifyBackup(path)
  expect(verified.posts).toBeGreaterThan(5)
})

test('a file with any byte altered or cut off is refused by a sentence', async () => {
  const path = join(app.dataDir, 'whole.backup')
  await createBackup(app.databaseUrl, path, { secret: null })
  const whole = await readFile(path)
  const broken = join(app.dataDir, 'broken.backup')
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

test('one of two backups into the same file is refused, and no other file stays', async () => {
  const own = await mkdtemp(join(app.dataDir, 'two-'))
  const path = join(own, 'wall.backup')
  const make = () => createBackup(app.databaseUrl, path, { secret: null })
  const results = await Promise.allSettled([make(), make()])
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const refused = results.find((result) => result.status === 'rejected')
  expect(String(refused?.reason.message)).toContain('такой файл уже есть')
  expect(await readdir(own)).toEqual(['wall.backup'])
  await readManifest(path)
})

test('a backup whose rows differ from its manifest is refused', async () => {
  const path = join(app.dataDir, 'sums.backup')
  const { manifest } = await createBackup(app.databaseUrl, path, { secret: null })
  const url = await emptyDatabase()
  const bans = manifest.parts.find(({ table }) => table === 'bans')
  const refusal = async (name: string, text: string, change: Partial<Part> = {}) => {
    const file = join(app.dataDir, name)
    await writeBackup(file, { ...manifest, sequences: [] }, async (writer) => {
      const part = await writer.addPart(Readable.from([Buffer.from(text)]))
      return bans ? [{ ...bans, ...part, ...change }] : []
    })
    return restoreBackup(url, file, options()).catch((error) => error.message)
  }
  const other = { sha256: 'f'.repeat(64) }
  expect(await refusal('sums-wrong.backup', '', other)).toContain('Копия неверна: в таблице bans')
  expect(await refusal('few.backup', '')).toContain('Копия неверна: в ней нет таблицы')
  const notLoaded = 'Копия неверна: таблица bans не загружается.'
  expect(await refusal('rows.backup', 'x\u001b[31m\n')).toBe(notLoaded)
  expect(await refusal('frame.backup', '', { offset: 9, bytes: 1 })).toBe(notLoaded)
  expect(await refusal('column.backup', '', { columns: ['none'] })).toBe(notLoaded)
})

test('a manifest with anything in it that no version has written is refused in a sentence without control characters, and nothing hangs', async () => {
  const { manifest } = await createBackup(app.databaseUrl, join(app.dataDir, 'fields.backup'), {
    secret: BACKUP_SECRET,
  })
  const first = { ...manifest.parts[0], offset: 8, bytes: 4 }
  const inPart = (change: object) => ({ ...manifest, parts: [{ ...first, ...change }] })
  const manifests: [unknown, string][] = [
    ...[null, [], 'x', 7, true, {}, { product: 'other' }].map((other): [unknown, string] => [
      other,
      'не копия стены',
    ]),
    [{ ...manifest, format: 2, version: '9.0.0' }, 'в формате 2, а эта версия знает формат 1'],
    [{ ...manifest, format: '1' }, '/format'],
    [{ ...manifest, version: '9\u001b[2J' }, '/version'],
    [{ ...manifest, migration: '\u001b]0;x\u0007' }, '/migration'],
    [{ ...manifest, createdAt: '2026-99-01T00:00:00.000Z' }, '/createdAt'],
    [{ ...manifest, createdAt: undefined }, '/createdAt'],
    [{ ...manifest, secret: 7 }, '/secret'],
    [{ ...manifest, parts: {} }, '/parts'],
    [{ ...manifest, parts: [first, first] }, '/parts/1/table'],
    [{ ...manifest, sequences: [{ table: 'posts', column: 'id', last: '-1' }] }, '/sequences/0'],
    ...[-1, 0, 7, 1e15, 1.5, '8'].map((offset): [unknown, string] => [
      inPart({ offset }),
      '/parts/0/offset',
    ]),
    ...[0, -1, 1e15, null].map((bytes): [unknown, string] => [inPart({ bytes }), '/parts/0/']),
    [inPart({ columns: [] }), '/parts/0/columns'],
    [inPart({ table: 'x\u001b' }), '/parts/0/table'],
    [inPart({ sha256: 'f' }), '/parts/0/sha256'],
    [inPart({ rows: undefined }), '/parts/0/rows'],
  ]
  const file = join(app.dataDir, 'hostile.backup')
  for (const [hostile, says] of manifests) {
    const handle = await open(file, 'w')
    const writer = new BackupWriter(handle)
    await writer.addPart(Readable.from([Buffer.from('row\n')]))
    await writer.finish(hostile as Manifest)
    await handle.close()
    const { message } = await readManifest(file).catch((error) => error)
    expect(message).toContain(says)
    expect(message).not.toMatch(/\p{Cc}/u)
  }
})

test('on a disk without hard links a backup still gets its name, and replaces no file', async () => {
  const own = await mkdtemp(join(app.dataDir, 'links-'))
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
