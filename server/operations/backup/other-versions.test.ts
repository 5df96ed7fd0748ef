import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS, migrate } from '../../kernel/db/migrate.ts'
import {
  BACKUP_SECRET,
  emptyDatabase,
  restoreOptions,
  withClient,
  writeBackup,
} from '../../testing/backups.ts'
import { databaseForTest } from '../../testing/database-for-test.ts'
import { executeOn } from '../../testing/databases.ts'
import { folderForTest } from '../../testing/folder-for-test.ts'
import { startTestApp } from '../../testing/test-app.ts'
import { createBackup } from './create-backup.service.ts'
import type { Part } from './manifest.ts'
import { restoreBackup } from './restore.service.ts'
import { copyOut, selectTables, setCopyFormat } from './tables.repository.ts'
import { verifyBackup } from './verify.service.ts'

test('a backup of an older migration is migrated forward, also in the place of a wall as old', async () => {
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
    await writeBackup(path, { migration: names.at(-1) ?? '' }, async (writer) => {
      const parts: Part[] = []
      for (const shape of shapes) {
        const part = await writer.addPart(copyOut(client, shape))
        parts.push({ table: shape.table, columns: shape.columns, ...part })
      }
      return parts
    })
  })
  const url = await emptyDatabase()
  await migrate(url, { migrations })
  await restoreBackup(url, path, restoreOptions(folder))
  const { rows } = await withClient(url, (client) =>
    client.query(`SELECT username, deleted_at, to_regclass('archived_posts') AS former FROM users`),
  )
  expect(rows).toEqual([{ username: 'olga', deleted_at: null, former: null }])
  const done = await withClient(url, (client) => client.query('SELECT name FROM kysely_migration'))
  expect(done.rows.map(({ name }) => name).sort()).toEqual(Object.keys(MIGRATIONS).sort())
})

/** The release after this one, which has one more migration; this one can work with what that adds. */
const NEWER: typeof MIGRATIONS = {
  ...MIGRATIONS,
  '900-moods': {
    isAdditive: true,
    async up(db) {
      for (const change of [
        'CREATE TABLE moods (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text)',
        `INSERT INTO moods (name) VALUES ('glad')`,
        'ALTER TABLE posts ADD mood bigint REFERENCES moods',
        'UPDATE posts SET mood = 1',
        'CREATE FUNCTION mood_of(post bigint) RETURNS text LANGUAGE sql RETURN NULL',
      ]) {
        await sql.raw(change).execute(db)
      }
    },
  },
}

test('after a way back this version backs up whole what the newer one has added, which the newer one alone verifies and restores', async () => {
  const newer = await startTestApp()
  onTestFinished(() => newer.close())
  await newer.publish(await newer.signUp())
  await migrate(newer.databaseUrl, { migrations: NEWER })
  await executeOn(newer.databaseUrl, `UPDATE installation SET version = '9.0.0'`)
  const path = join(await folderForTest(), 'moods.backup')
  const { manifest } = await createBackup(newer.databaseUrl, path, { secret: BACKUP_SECRET })
  const tables = manifest.parts.map(({ table }) => table)
  // The newer version loads the parts in this order, with foreign keys in force.
  expect(tables.indexOf('moods')).toBeLessThan(tables.indexOf('posts'))
  expect(manifest.parts.find(({ table }) => table === 'posts')?.columns).toContain('mood')
  expect(manifest).toMatchObject({ migration: '900-moods', version: '9.0.0' })
  await expect(verifyBackup(path)).rejects.toThrow('она версии 9.0.0 (в ней есть 900-moods)')
})

test('a restore after a way back leaves nothing of the newer version, which can upgrade the wall again', async () => {
  const folder = await folderForTest()
  const path = join(folder, 'before.backup')
  const databaseUrl = await databaseForTest()
  await createBackup(databaseUrl, path, { secret: BACKUP_SECRET })
  await migrate(databaseUrl, { migrations: NEWER })
  await executeOn(databaseUrl, 'CREATE EXTENSION pg_trgm')
  await restoreBackup(
    databaseUrl,
    path,
    restoreOptions(folder, async () => {}),
  )
  await migrate(databaseUrl, { migrations: NEWER })
  const { rows } = await withClient(databaseUrl, (client) => client.query('SELECT name FROM moods'))
  expect(rows).toEqual([{ name: 'glad' }])
})

test('a restore leaves the tables of others that stand beside those of a wall', async () => {
  const folder = await folderForTest()
  const path = join(folder, 'beside.backup')
  const databaseUrl = await databaseForTest()
  await executeOn(databaseUrl, 'CREATE TABLE notes (text text)')
  await createBackup(databaseUrl, path, { secret: BACKUP_SECRET })
  await restoreBackup(
    databaseUrl,
    path,
    restoreOptions(folder, async () => {}),
  )
  await executeOn(databaseUrl, 'SELECT FROM notes')
})

test('a restore over a wall of an older version leaves none of the tables that were dropped since', async () => {
  const folder = await folderForTest()
  const path = join(folder, 'today.backup')
  await createBackup(await databaseForTest(), path, { secret: BACKUP_SECRET })
  const old = await emptyDatabase()
  const before = Object.entries(MIGRATIONS).filter(([name]) => name < '016')
  await migrate(old, { migrations: Object.fromEntries(before) })
  await executeOn(old, 'SELECT FROM mail_log')
  await restoreBackup(
    old,
    path,
    restoreOptions(folder, async () => {}),
  )
  await expect(executeOn(old, 'SELECT FROM mail_log')).rejects.toThrow('does not exist')
})
