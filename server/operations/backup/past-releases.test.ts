import { copyFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { emptyDatabase, restoreOptions } from '../../testing/database/backups.ts'
import { executeOn } from '../../testing/database/databases.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { restoreBackup } from './restore.service.ts'
import { verifyBackup } from './verify.service.ts'

const RELEASES = join(import.meta.dirname, 'releases')
const FILES = await readdir(RELEASES)

test('there is a backup that each release has made', async () => {
  const changelog = await readFile(join(import.meta.dirname, '../../../CHANGELOG.md'), 'utf8')
  const released = [...changelog.matchAll(/^## ([\d.]+)(?!.*not released yet)/gm)]
  const expected = ['0.1.0', '1.0.0', ...released.map(([, version]) => version)]
  expect(new Set(FILES)).toEqual(new Set(expected.map((version) => `${version}.fixture.backup`)))
})

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
