import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS, migrate } from '../db/migrate.ts'
import {
  BACKUP_SECRET,
  emptyDatabase,
  restoreOptions,
  withClient,
  writeBackup,
} from '../testing/backups.ts'
import { executeOn } from '../testing/databases.ts'
import { folderForTest } from '../testing/folder-for-test.ts'
import { startTestApp } from '../testing/test-app.ts'
import { BACKED_UP } from './backed-up-tables.ts'
import type { Part } from './backup-file.ts'
import { createBackup } from './create-backup.service.ts'
import { restoreBackup } from './restore.service.ts'
import { copyOut, selectTables, setCopyFormat } from './tables.repository.ts'
import { verifyBackup } from './verify.service.ts'

test('a backup of an older migration is migrated forward', async () => {
  const old = await emptyDatabase()
  const names = Object.keys(MIGRATIONS).slice(0, -1)
  const migrations = Object.fromEntries(names.map((name) => [name, MIGRATIONS[name] as never]))
  await migrate(old, { migrations })
  const folder = await folderForTest()
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
  await restoreBackup(url, path, restoreOptions(folder))
  const { rows } = await withClient(url, (client) =>
    client.query('SELECT username, deleted_at FROM users'),
  )
  expect(rows).toEqual([{ username: 'olga', deleted_at: null }])
  const done = await withClient(url, (client) => client.query('SELECT name FROM kysely_migration'))
  expect(done.rows.map(({ name }) => name).sort()).toEqual(Object.keys(MIGRATIONS).sort())
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
  const folder = await folderForTest()
  const path = join(folder, 'additive.backup')
  const { manifest } = await createBackup(newer.databaseUrl, path, { secret: BACKUP_SECRET })
  const tables = manifest.parts.map(({ table }) => table)
  // The newer version loads the parts in this order, with foreign keys in force.
  expect(tables.indexOf('moods')).toBeLessThan(tables.indexOf('posts'))
  expect(tables.filter((table) => table !== 'moods').sort()).toEqual([...BACKED_UP].sort())
  expect(manifest.migration).toBe('900-moods')
  expect((await verifyBackup(path)).posts).toBe(1)
  const url = await emptyDatabase()
  await restoreBackup(url, path, restoreOptions(folder))
  const { rows } = await withClient(url, (client) => client.query('SELECT * FROM posts'))
  expect(rows).toHaveLength(1)
  expect(Object.keys(rows[0])).not.toContain('mood')
})
