import { createHash } from 'node:crypto'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MIGRATIONS, type Migrations, migrate } from '../../kernel/db/migrate.ts'
import { BACKUP_SECRET, emptyDatabase, restoreOptions } from '../../testing/database/backups.ts'
import { databaseForTest } from '../../testing/database/database-for-test.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { appForTest } from '../../testing/test-app.ts'
import { createBackup } from './create-backup.service.ts'
import { restoreBackup } from './restore.service.ts'
import { verifyBackup } from './verify.service.ts'

/** The release after this one, which has one more migration; this one can work with what that adds. */
const NEWER: Migrations = {
  ...MIGRATIONS,
  '900-moods': `-- additive
    CREATE TABLE moods (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text);
    INSERT INTO moods (name) VALUES ('glad');
    ALTER TABLE posts ADD mood bigint REFERENCES moods;
    UPDATE posts SET mood = 1;
    CREATE FUNCTION mood_of(post bigint) RETURNS text LANGUAGE sql RETURN NULL;
    CREATE FUNCTION mood_of(post text) RETURNS text LANGUAGE sql RETURN NULL;
    CREATE FUNCTION set_like(post bigint) RETURNS text LANGUAGE sql RETURN NULL`,
}

test('after a downgrade a backup contains all of the newer version, which alone verifies and restores it', async () => {
  const newer = await appForTest()
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
  await expect(verifyBackup(path)).rejects.toThrow('другой версии: 9.0.0 (в ней есть 900-moods)')
})

/** Makes a backup of a new wall. `restore` restores it in place of the wall. */
async function wallWithBackup() {
  const [folder, databaseUrl] = [await folderForTest(), await databaseForTest()]
  const path = join(folder, 'before.backup')
  await createBackup(databaseUrl, path, { secret: BACKUP_SECRET })
  const options = restoreOptions(folder, { requireReplaceable: async () => {} })
  return { databaseUrl, restore: () => restoreBackup(databaseUrl, path, options) }
}

test('a restore after a downgrade leaves nothing of the newer version, which can upgrade the wall again', async () => {
  const { databaseUrl, restore } = await wallWithBackup()
  await migrate(databaseUrl, { migrations: NEWER })
  await executeOn(databaseUrl, 'CREATE EXTENSION pg_trgm')
  await restore()
  await migrate(databaseUrl, { migrations: NEWER })
  expect(await executeOn(databaseUrl, 'SELECT name FROM moods')).toEqual([{ name: 'glad' }])
})

test('tables that an older version has left beside its own stop an upgrade, until this version restores the backup, which keeps what is not of the wall', async () => {
  const { databaseUrl, restore } = await wallWithBackup()
  await executeOn(databaseUrl, 'DELETE FROM kysely_migration; CREATE TABLE notes (text text)')
  await expect(migrate(databaseUrl)).rejects.toThrow('vslukh restore ФАЙЛ --replace')
  await restore()
  await migrate(databaseUrl)
  await executeOn(databaseUrl, 'SELECT FROM notes')
})

const RELEASES = join(import.meta.dirname, 'releases')
const FILES = await readdir(RELEASES)

test('there is a backup that each release has made', async () => {
  const changelog = await readFile(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8')
  const released = [...changelog.matchAll(/^## ([\d.]+)(?!.*not released yet)/gm)]
  const expected = ['1.0.0', ...released.map(([, version]) => version)]
  expect(new Set(FILES)).toEqual(new Set(expected.map((version) => `${version}.fixture.backup`)))
})

/** The SHA-256 of the SQL that databases of past releases have run. */
const FROZEN = {
  '001-schema': 'bdb76cee0a863c15374c731cb90d296490f2a676d86b825bd7bf51c0134f0cc3',
}

test.each(Object.entries(FROZEN))(
  '%s.sql stays as it was released: a later change of the schema is a migration of its own',
  (name, sum) => {
    expect(
      createHash('sha256')
        .update(MIGRATIONS[name] ?? '')
        .digest('hex'),
    ).toBe(sum)
  },
)

test.each(FILES)('%s is verified and restored whole', async (name) => {
  const folder = await folderForTest()
  const path = join(folder, name)
  await copyFile(join(RELEASES, name), path)
  const { manifest, posts } = await verifyBackup(path)
  expect(posts).toBeGreaterThan(0)
  const url = await emptyDatabase()
  const options = restoreOptions(folder, { appSecret: undefined })
  expect(await restoreBackup(url, path, options)).toMatchObject({ secret: 'placed' })
  for (const table of ['users', 'posts', 'likes']) {
    const part = manifest.parts.find((one) => one.table === table)
    const counted = await executeOn(url, `SELECT count(*)::int AS rows FROM ${table}`)
    expect(counted).toEqual([{ rows: part?.rows }])
  }
  // No backup contains this row, without which mails do not pause while the login is refused.
  expect(await executeOn(url, 'SELECT FROM mail_pause')).toHaveLength(1)
})
