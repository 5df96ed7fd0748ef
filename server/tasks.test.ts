import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { selectTransitions } from './features/account-deletion/account-deletion.repository.ts'
import { addJob } from './kernel/queue/queue.ts'
import { checkJobs } from './operations/doctor/database-checks.ts'
import { selectJobFacts } from './operations/doctor/doctor.repository.ts'
import { areTransitionsDone, leave } from './testing/calls/account-deletion-calls.ts'
import { startAt } from './testing/calls/sign-in-calls.ts'
import { clientForTest, databaseForTest } from './testing/database/database-for-test.ts'
import { executeOn } from './testing/database/databases.ts'
import { folderForTest } from './testing/process/folder-for-test.ts'
import { envOf } from './testing/process/run-command.ts'
import { startMain } from './testing/process/start-main.ts'
import { mailAppForTest, startTestApp } from './testing/test-app.ts'

/** The quarter past an hour, so many hours from now. */
function quarterPast(hours: number) {
  const at = new Date(Date.now() + hours * 3_600_000)
  return { hour: at.getUTCHours(), minute: 15 }
}

async function backupFolder(): Promise<string> {
  const folder = join(await folderForTest(), 'backups')
  await mkdir(folder)
  return folder
}

test('a nightly backup that was missed because no server ran is made at the next start, and none without BACKUP_DIR', async () => {
  const databaseUrl = await databaseForTest()
  const execute = (statement: string) => executeOn(databaseUrl, statement)
  const known = () =>
    execute(`SELECT FROM graphile_worker._private_known_crontabs WHERE identifier = 'back-up'`)
  const without = await startTestApp({ databaseUrl })
  await without.close()
  expect(await known()).toEqual([])

  const first = await startTestApp({ databaseUrl, config: { backupDir: '/nowhere' } })
  // The job is registered a moment after the start.
  await expect.poll(known).toHaveLength(1)
  await first.close()
  await execute(`UPDATE graphile_worker._private_known_crontabs
    SET known_since = now() - interval '2 days', last_execution = NULL`)
  // Without this the job would go on to verify for some seconds.
  await execute('UPDATE installation SET backup_verified_at = now()')

  const backupDir = await backupFolder()
  const backupAt = quarterPast(-2)
  const second = await startTestApp({ databaseUrl, config: { backupDir, backupAt } })
  onTestFinished(() => second.close())
  await second.logLine('the wall was backed up')
  expect(await readdir(backupDir)).toEqual([expect.stringMatching(/^vslukh-.*\.backup$/)])
})

test('of nodes with different BACKUP_AT the one that started last decides when the one backup of a night is made', async () => {
  const databaseUrl = await databaseForTest()
  const backupDir = await backupFolder()
  await executeOn(databaseUrl, 'UPDATE installation SET backup_verified_at = now()')
  const startNode = async (hours: number) => {
    const config = { backupDir, backupAt: quarterPast(hours) }
    const node = await startTestApp({ databaseUrl, config })
    onTestFinished(() => node.close())
    return node
  }
  const nodes = [await startNode(3), await startNode(5)]
  /** Queues what the cron of a node queues when its BACKUP_AT has come. */
  const queue = (hours: number) => {
    const { hour, minute } = quarterPast(hours)
    const ts = new Date(Date.UTC(2026, 0, 1, hour, minute)).toISOString()
    return executeOn(
      databaseUrl,
      `SELECT graphile_worker.add_job('back-up', '{"_cron": {"ts": "${ts}"}}', 'back-up')`,
    )
  }
  await queue(3)
  await queue(5)
  await expect
    .poll(() => executeOn(databaseUrl, 'SELECT FROM graphile_worker.jobs'), { timeout: 20_000 })
    .toEqual([])
  expect(await readdir(backupDir)).toHaveLength(1)
  const skipped = nodes.flatMap(({ logged }) => logged).filter((line) => /no backup: /.test(line))
  expect(skipped).toHaveLength(1)
  expect(skipped[0]).toContain(`T${String(quarterPast(3).hour).padStart(2, '0')}:15`)
})

test('while a row of a deleted account is held, other accounts are hidden, codes are mailed, and doctor names the job; then that one is hidden too', async () => {
  const { app, mailbox } = await mailAppForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  for (const user of [olga, petr]) await app.publish(user)
  const holder = await clientForTest(app.databaseUrl)
  for (const user of [olga, petr]) expect((await leave(app, user)).status).toBe(200)
  await expect.poll(() => areTransitionsDone(app)).toBe(true)
  expect(await selectTransitions(app.db, true)).toEqual([])
  await expect.poll(() => app.sql`SELECT FROM graphile_worker.jobs`).toEqual([])
  await holder.query('BEGIN')
  await holder.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [olga.id])
  await app.sql`UPDATE posts SET hidden_for = NULL, hidden_reason = NULL, hidden_by = NULL, hidden_at = NULL, hidden_until = NULL`
  for (let run = 0; run < 10; run++) await addJob(app.db, 'move-accounts')
  const visible = () => app.sql`SELECT owner_id FROM visible_posts ORDER BY id`
  await expect.poll(visible, { timeout: 20_000 }).toEqual([{ owner_id: olga.id }])
  expect((await startAt(app, '/registrations', { email: 'new@example.org' })).status).toBe(201)
  expect(await mailbox.codeFor('new@example.org')).toMatch(/^\d{6}$/)
  // Not pg_locks, which has the locks of other tests' databases too.
  const waiting = () => app.sql`SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  await expect.poll(async () => (await waiting()).length).toBeLessThanOrEqual(1)
  await expect
    .poll(async () => checkJobs(await selectJobFacts(app.db)).message, { timeout: 60_000 })
    .toMatch(/раз за разом: move-accounts с /)

  await holder.query('ROLLBACK')
  await expect.poll(() => areTransitionsDone(app), { timeout: 20_000 }).toBe(true)
  await expect
    .poll(async () => checkJobs(await selectJobFacts(app.db)).level, { timeout: 20_000 })
    .toBe('ok')
}, 120_000)

/** Kills a server while its backup job runs, after `queue` has queued the job, and starts another. */
async function killDuringBackup(
  queue: (execute: (sql: string) => Promise<unknown>) => Promise<void>,
) {
  const databaseUrl = await databaseForTest()
  const execute = (statement: string) => executeOn(databaseUrl, statement)
  const backupDir = await backupFolder()
  await execute('UPDATE installation SET backup_verified_at = now()')
  const killed = await startMain({
    ...envOf({ databaseUrl }),
    DATA_DIR: await folderForTest(),
    BACKUP_DIR: backupDir,
    BACKUP_COMMAND: 'sleep 60',
  })
  await queue(async (statement) => {
    await execute(statement)
    await expect.poll(() => readdir(backupDir), { timeout: 20_000 }).toHaveLength(1)
  })
  await killed.kill()
  const other = await startTestApp({ databaseUrl, config: { backupDir } })
  onTestFinished(() => other.close())
  await other.logLine('jobs of a server that is gone run again')
  await other.logLine('the wall was backed up')
  return other
}

test('a job of a killed server is run again at once by another', async () => {
  await killDuringBackup(async (execute) => {
    await execute(`SELECT graphile_worker.add_job('back-up', queue_name => 'back-up')`)
  })
}, 60_000)

test('a run of a killed server that a later run has replaced is not left in the queue', async () => {
  const cron = `SELECT graphile_worker.add_job('back-up', queue_name => 'back-up',
    job_key => 'back-up', job_key_mode => 'preserve_run_at')`
  const other = await killDuringBackup(async (execute) => {
    await execute(cron)
    await execute(cron)
  })
  await expect
    .poll(() => other.sql`SELECT FROM graphile_worker.jobs`, { timeout: 30_000 })
    .toEqual([])
  expect(checkJobs(await selectJobFacts(other.db)).level).toBe('ok')
}, 60_000)
