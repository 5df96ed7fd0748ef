import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEVICE } from '../../server/testing/client.ts'
import { executeOn } from '../../server/testing/databases.ts'
import { isRoot } from '../../server/testing/debian-package.ts'
import { examine, expectFinding, startWall } from '../../server/testing/examined-wall.ts'
import { folderForTest, mountForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { shiftedClock } from '../../server/testing/shifted-clock.ts'

test('settings, database, rights, secret, clock, counters and jobs that are broken are named with the way to mend them', {
  timeout: 120_000,
}, async () => {
  const { env } = await startWall()
  const { DATABASE_URL = '' } = env
  const clock = await shiftedClock()
  await clock.shift(120)
  await executeOn(
    DATABASE_URL,
    'UPDATE installation SET counter_differences = 2, counters_checked_at = now()',
  )
  await executeOn(
    DATABASE_URL,
    `SELECT graphile_worker.add_job('gone-task', run_at => now() - interval '1 hour')`,
  )
  await Promise.all([
    expectFinding({ ...env, PORT: 'abc' }, 'settings', {
      level: 'broken',
      message: /^PORT: /,
      fix: /Исправьте/,
    }),
    expectFinding(
      { ...env, DATABASE_URL: `postgres://x@127.0.0.1:${await freePort()}/x` },
      'database',
      {
        level: 'broken',
        message: /не отвечает/,
        fix: /базы данных/,
      },
    ),
    expectFinding({ ...env, APP_SECRET: 't'.repeat(32) }, 'secret', {
      level: 'broken',
      message: /не подходит/,
      fix: /ACCEPT_NEW_SECRET/,
    }),
    expectFinding({ ...env, ...clock.env }, 'clock', {
      level: 'broken',
      message: /спешат на 1[12]\d с/,
      fix: /timedatectl/,
    }),
    expectFinding(env, 'counters', {
      level: 'broken',
      message: /расхождений: 2/,
      fix: /vslukh recount/,
    }),
    expectFinding({ ...env, OPERATOR_NAME: '', REPORT_TO_HIDE: '5' }, 'settings', {
      level: 'warning',
      message: /^сайт открыт людям, .*: OPERATOR_NAME; переменной REPORT_TO_HIDE нет$/,
      fix: /Задайте OPERATOR_NAME: .*в виду REPORTS_TO_HIDE/,
    }),
    expectFinding(env, 'jobs', { level: 'broken', message: /gone-task/, fix: /журнале/ }),
  ])
  const DATA_DIR = await folderForTest()
  const BACKUP_DIR = await folderForTest()
  const { found } = await examine({ ...env, DATA_DIR, BACKUP_DIR })
  expect(found['backup disk']).toMatchObject({ message: expect.stringContaining(BACKUP_DIR) })
  await executeOn(
    DATABASE_URL,
    `UPDATE kysely_migration SET name = '999' WHERE name = '009-mail-log'`,
  )
  await expectFinding(env, 'database', {
    level: 'broken',
    message: /другой версии/,
    fix: /базы данных/,
  })
  await executeOn(
    DATABASE_URL,
    `UPDATE kysely_migration SET name = '009-mail-log' WHERE name = '999'`,
  )
  const name = new URL(DATABASE_URL).pathname.slice(1)
  await executeOn(DATABASE_URL, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await expectFinding(env, 'database', {
    level: 'broken',
    message: /только для чтения/,
    fix: /default_transaction_read_only/,
  })
})

test('a mail server that has stopped, the mails that wait for it, and a disk that is full are named', {
  timeout: 120_000,
}, async ({ skip }) => {
  skip(!isRoot, 'only root may mount a small disk')
  const { env, target, closeMailbox } = await startWall()
  await closeMailbox()
  const answer = await fetch(`${target}/api/v1/registrations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'olga@example.org', clientToken: 'one browser', device: DEVICE }),
  })
  expect(answer.status).toBe(201)
  await expect
    .poll(async () => (await examine(env)).found.mails, { timeout: 30_000 })
    .toMatchObject({ level: 'broken', message: expect.stringMatching(/не уходят: 1/) })
  await expectFinding(env, 'smtp', { level: 'broken', message: /ECONNREFUSED/, fix: /SMTP_URL/ })

  const printing = { ...env, SMTP_URL: '', MAIL_MODE: 'print' }
  const DATA_DIR = await folderForTest()
  await mountForTest(DATA_DIR, 'size=48m')
  await writeFile(join(DATA_DIR, 'filler'), Buffer.alloc(40 * 1024 * 1024, 1))
  const full = { level: 'broken', message: /свободно 8 МиБ/, fix: /Освободите/ } as const
  await expectFinding({ ...printing, DATA_DIR }, 'disk', full)
  await rm(join(DATA_DIR, 'filler'))
  const little = { level: 'warning', message: /свободно 48 МиБ/, fix: /Освободите/ } as const
  await expectFinding({ ...printing, DATA_DIR }, 'disk', little)
})
