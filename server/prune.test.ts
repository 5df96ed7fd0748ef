import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createPruning } from './prune.task.ts'
import { passSessionTime } from './testing/passing-time.ts'
import { appForTest } from './testing/test-app.ts'

const DAY = 86_400
const HOUR_MS = 3_600_000

test('more than half of the sessions expired: nothing is deleted at first, and everything expired once that is still so an hour later', async () => {
  const app = await appForTest()
  await app.signUp()
  await sql`INSERT INTO sessions SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid()))).*
    FROM sessions s, generate_series(2, 20)`.execute(app.db)
  await passSessionTime(app, 31 * DAY)
  let ms = 0
  const errors: object[] = []
  const prune = createPruning(
    app.db,
    { error: (details: object) => errors.push(details) },
    () => ms,
  )
  const count = async () => (await app.db.selectFrom('sessions').select('id').execute()).length

  await prune()
  // A crontab that makes up for missed minutes runs the task many times in a moment.
  for (let minute = 1; minute < 50; minute++) {
    ms += 60_000
    await prune()
  }
  expect(await count()).toBe(20)
  expect(errors).toHaveLength(50)
  ms = HOUR_MS
  await prune()
  expect(await count()).toBe(0)
})

test('on a wall of a few people most of whose sessions are over nobody is told, and they are deleted an hour later', async () => {
  const app = await appForTest()
  for (let users = 0; users < 2; users++) await app.signUp()
  await passSessionTime(app, 31 * DAY)
  await app.signUp()
  let ms = 0
  const errors: object[] = []
  const log = { error: (details: object) => errors.push(details) }
  const prune = createPruning(app.db, log, () => ms)
  await prune()
  ms = HOUR_MS
  await prune()
  expect(errors).toEqual([])
  expect(await app.db.selectFrom('sessions').select('id').execute()).toHaveLength(1)
})
