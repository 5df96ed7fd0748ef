import { Logger, runOnce } from 'graphile-worker'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openDatabase } from '../db/database.ts'
import { selectJobFacts } from '../doctor/doctor.repository.ts'
import { freshDatabase } from '../testing/databases.ts'
import { mailHealth } from './mail-health.repository.ts'
import { queueAgain, queueMail } from './queue-mail.ts'

test('a mail that is queued again counts once, and its job is not one that was given up, also while the job of its last try has not ended', async () => {
  const database = await freshDatabase(inject('databaseUrl'))
  onTestFinished(() => database.drop())
  const { db, pool, close } = openDatabase(database.url, () => {})
  onTestFinished(close)
  const counts: object[] = []
  await queueMail(db, 'send-x', { to: 'olga@example.org', expiresAt: Date.now() + 60_000 })
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
