import { type ControlledTransaction, type RawBuilder, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Queryable } from '../../kernel/db/database.ts'
import type { Tables } from '../../kernel/db/tables.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { lockWaits } from '../../testing/database/databases.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from './counters.task.ts'

const app = await appForFile()
for (const user of await app.signUps(8)) {
  const { id } = await app.publish(user)
  await app.reply(user, id)
  await app.call('POST', `/posts/${id}/likes`, { token: user.token })
}

function holdLowest(tx: Queryable, rows: RawBuilder<unknown>) {
  return sql`SELECT FROM ${rows} LIMIT 1 FOR NO KEY UPDATE`.execute(tx)
}

/** Returns how many rows nobody else holds, once a statement waits for this transaction. */
async function countFree(tx: Queryable, rows: RawBuilder<unknown>): Promise<number> {
  await expect.poll(() => lockWaits(app)).toBe(1)
  const free = await sql`SELECT FROM ${rows} FOR NO KEY UPDATE SKIP LOCKED`.execute(tx)
  return free.rows.length
}

const POSTS = sql`posts WHERE replied_post_id IS NULL ORDER BY id`

test.each([
  [
    'that hides posts',
    sql`UPDATE posts SET hidden_for = 'removed', hidden_until = 'infinity' WHERE replied_post_id IS NOT NULL`,
    [POSTS, sql`owner_totals ORDER BY user_id`],
  ],
  ['that deletes likes', sql`DELETE FROM likes`, [POSTS]],
])(
  'a statement %s locks what it counts in ascending order, so that no two of them wait for each other',
  async (_what, statement, counted) => {
    const holders: { tx: ControlledTransaction<Tables>; rows: RawBuilder<unknown> }[] = []
    for (const rows of counted) {
      const tx = await app.db.startTransaction().execute()
      await holdLowest(tx, rows)
      holders.push({ tx, rows })
    }
    const running = statement.execute(app.db)
    for (const { tx, rows } of holders) {
      expect(await countFree(tx, rows)).toBe(8)
      await tx.rollback().execute()
    }
    await running
  },
)

test('the nightly check logs every counter that differs from its rows, also one that is missing', async () => {
  const app = await appForTest()
  const olga = await app.signUp()
  const post = await app.publish(olga)
  await app.reply(olga, post.id)
  await app.call('POST', `/posts/${post.id}/likes`, { token: olga.token })

  await addJob(app.db, 'check-counters')
  expect(JSON.parse(await app.logLine('counters checked')).differences).toBe(0)
  for (const change of [
    sql`wall_totals SET posts = posts + 1 WHERE slot = 3`,
    sql`owner_totals SET posts = posts + 1, replies = replies + 1`,
    sql`posts SET likes_count = likes_count + 1, replies_count = replies_count + 1 WHERE id = ${post.id}`,
  ]) {
    await app.sql`UPDATE ${change}`
  }
  const wrong = [
    ['wall', 'all'],
    ['owner posts', olga.id],
    ['owner replies', olga.id],
    ['post likes', post.id],
    ['post replies', post.id],
  ].map(([counter, id]) => ({ counter, id, kept: 2, rows: 1 }))
  await addJob(app.db, 'check-counters')
  expect(JSON.parse(await app.logLine('counters checked', 2)).differences).toBe(wrong.length)
  const logged = app.logged.filter((line) => line.includes('counter differs'))
  expect(logged.map((line) => JSON.parse(line))).toMatchObject(
    wrong.map((difference) => ({ level: 'error', ...difference })),
  )
  await app.sql`DELETE FROM owner_totals`
  const missing = { counter: 'owner posts', id: olga.id, kept: 0, rows: 1 }
  expect(await findCounterDifferences(app.db)).toContainEqual(missing)
})
