import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { findCounterDifferences } from '../posts/counters.task.ts'
import {
  BACKUP_SECRET,
  emptyDatabase,
  restoreOptions,
  sumsOf,
  withClient,
  writeBackup,
} from '../testing/backups.ts'
import { startTestApp, type TestApp } from '../testing/test-app.ts'
import { BACKED_UP, LEFT_OUT } from './backed-up-tables.ts'
import { type Manifest, readManifest } from './backup-file.ts'
import { createBackup } from './create-backup.service.ts'
import { restoreBackup } from './restore.service.ts'
import { selectTables } from './tables.repository.ts'
import { nameFile } from './unfinished-file.ts'
import { verifyBackup } from './verify.service.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const options = (mayReplace?: () => Promise<void>) => restoreOptions(app.dataDir, mayReplace)

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
  const other = await startTestApp({ databaseUrl: url })
  onTestFinished(() => other.close())
  expect(await findCounterDifferences(other.db)).toEqual([])
  const verified = await verifyBackup(path)
  expect(verified.posts).toBeGreaterThan(5)
}, 60_000)

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

test('of two backups into one file one is made and the other refused, and nothing else stays in the folder', async () => {
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

test('a backup whose rows are others than its manifest says, or of another format, is refused', async () => {
  const path = join(app.dataDir, 'sums.backup')
  const { manifest } = await createBackup(app.databaseUrl, path, { secret: null })
  const bans = manifest.parts.find(({ table }) => table === 'bans')
  const written = (name: string, change: Partial<Manifest>, sha256 = 'f'.repeat(64)) =>
    writeBackup(join(app.dataDir, name), { ...manifest, ...change }, async (writer) => {
      const part = await writer.addPart(Readable.from([Buffer.from('')]))
      return bans ? [{ ...bans, ...part, sha256 }] : []
    })
  await written('sums-wrong.backup', { sequences: [] })
  await expect(verifyBackup(join(app.dataDir, 'sums-wrong.backup'))).rejects.toThrow(
    'Копия неверна: в таблице bans',
  )
  await written('format.backup', { format: 2 as 1, version: '9.0.0' })
  await expect(readManifest(join(app.dataDir, 'format.backup'))).rejects.toThrow('в формате 2')
  await written('product.backup', { product: 'other' as 'vslukh' })
  await expect(readManifest(join(app.dataDir, 'product.backup'))).rejects.toThrow('не копия стены')
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
