import { Logger, runOnce } from 'graphile-worker'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { selectJobFacts } from '../doctor/doctor.repository.ts'
import { releaseAbandonedJobs } from '../queue/queue.ts'
import { openDatabaseForTest } from '../testing/database-for-test.ts'
import { mailHealth } from './mail-health.repository.ts'
import { queueAgain, queueMail } from './queue-mail.ts'

const MAIL = { to: 'olga@example.org', expiresAt: Date.now() + 60_000 }

test('a mail that is queued again counts once, and its job is not one that was given up, also while the job of its last try has not ended', async () => {
  const { db, pool } = await openDatabaseForTest()
  const counts: object[] = []
  await queueMail(db, 'send-x', MAIL)
  await runOnce({
    pgPool: pool,
    logger: new Logger(() => () => {}),
    taskList: {
      async 'send-x'(payload) {
        counts.push(await mailHealth(db))
        const mail = payload as Parameters<typeof queueMail>[2]
        await queueAgain(db, 'send-x', { mail, afterMs: 60_000 })
        counts.push(await mailHealth(db))
        expect(await selectJobFacts(db)).toMatchObject({ given_up: 0 })
      },
    },
  })
  counts.push(await mailHealth(db))
  expect(counts).toMatchObject(Array(3).fill({ waiting: 1, failing: 0 }))
})

test('of a process that was killed after it had queued a mail again, nothing but the next try is left', async () => {
  const { db } = await openDatabaseForTest()
  await queueMail(db, 'send-x', MAIL)
  const { rows } = await sql<{ payload: typeof MAIL }>`UPDATE graphile_worker._private_jobs
    SET locked_at = now() - interval '1 hour', locked_by = 'a killed one', attempts = 1 RETURNING payload`.execute(
    db,
  )
  const [{ payload: mail } = { payload: MAIL }] = rows
  await queueAgain(db, 'send-x', { mail, afterMs: 60_000 })
  await releaseAbandonedJobs(db, ['send-x'], 60)
  expect(await mailHealth(db)).toMatchObject({ waiting: 1, failing: 0 })
  expect(await selectJobFacts(db)).toMatchObject({ given_up: 0 })

  // One that failed each time has its key still, and stays for the doctor to name.
  await sql`UPDATE graphile_worker._private_jobs SET attempts = max_attempts`.execute(db)
  await releaseAbandonedJobs(db, ['send-x'], 60)
  expect(await selectJobFacts(db)).toMatchObject({ given_up: 1 })
})
