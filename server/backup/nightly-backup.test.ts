import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../logger.ts'
import { collectLog } from '../testing/log-lines.ts'
import { appForTest } from '../testing/test-app.ts'
import { selectBackupState } from './backup-state.repository.ts'
import { createNightlyBackup } from './nightly-backup.task.ts'
import { verifyBackup } from './verify.service.ts'

async function nightlyForTest(keep: number) {
  const app = await appForTest()
  const parent = await mkdtemp(join(tmpdir(), 'vslukh-nightly-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  const folder = join(parent, 'backups')
  const log = collectLog()
  const run = createNightlyBackup({
    db: app.db,
    url: app.databaseUrl,
    folder,
    keep,
    secret: 's'.repeat(32),
    log: createLogger('info', log.stream),
  })
  return { app, folder, log, run }
}

test('the nightly job writes a backup, verifies the first of a week, and keeps the newest', {
  timeout: 60_000,
}, async () => {
  const { app, folder, run } = await nightlyForTest(2)
  const olga = await app.signUp()
  await app.publish(olga)
  expect((await selectBackupState(app.db)).at).toBe(null)
  await run()
  const first = await selectBackupState(app.db)
  expect(first).toMatchObject({ at: expect.any(Date), failed: null, verifiedAt: expect.any(Date) })
  expect(first.bytes).toBeGreaterThan(0)
  const [oldest] = await readdir(folder)
  await run()
  expect((await selectBackupState(app.db)).verifiedAt).toEqual(first.verifiedAt)
  await writeFile(join(folder, 'not-a-backup.txt'), '')
  await run()
  const kept = await readdir(folder)
  expect(kept).toHaveLength(3)
  expect(kept).toContain('not-a-backup.txt')
  expect(kept).not.toContain(oldest)
  const newest = kept.filter((name) => name.endsWith('.backup')).sort()[1] ?? ''
  expect((await verifyBackup(join(folder, newest))).posts).toBe(1)
})

test('a backup that cannot be written is an error in the log and in the state, until one succeeds', async () => {
  const { app, folder, log, run } = await nightlyForTest(2)
  await writeFile(folder, 'a file where the folder should be')
  await run()
  expect((await selectBackupState(app.db)).failed).toContain('EEXIST')
  expect(JSON.parse(await log.line('the nightly backup failed')).level).toBe('error')
  await rm(folder)
  await run()
  expect(await selectBackupState(app.db)).toMatchObject({ failed: null, at: expect.any(Date) })
})
