import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Db } from './kernel/db/database.ts'
import { databaseForTest } from './testing/database/database-for-test.ts'
import { appForTest, startTestApp } from './testing/test-app.ts'

test('a nightly backup that was missed because no server ran is made at the next start, and none without BACKUP_DIR', async () => {
  const databaseUrl = await databaseForTest()
  const first = await startTestApp({ databaseUrl, config: { backupDir: '/nowhere' } })
  const registered = (db: Db) =>
    db.selectFrom('recurring_jobs').select('task').where('task', '=', 'back-up').execute()
  // The job is registered a moment after the start.
  await expect.poll(() => registered(first.db)).toHaveLength(1)
  await first.sql`UPDATE recurring_jobs SET period = period - 2 WHERE task = 'back-up'`
  // Without this the job would go on to verify for some seconds.
  await first.sql`UPDATE installation SET backup_verified_at = now()`
  await first.close()

  const parent = await appForTest()
  expect(await registered(parent.db)).toEqual([])
  const backupDir = join(parent.dataDir, 'backups')
  await mkdir(backupDir)
  const backupAt = { hour: new Date(Date.now() - 3_600_000).getUTCHours(), minute: 15 }
  const second = await startTestApp({ databaseUrl, config: { backupDir, backupAt } })
  onTestFinished(() => second.close())
  await second.logLine('the wall was backed up')
  expect(await readdir(backupDir)).toEqual([expect.stringMatching(/^vslukh-.*\.backup$/)])
})
