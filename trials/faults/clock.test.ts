import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { codeFor, startProductForTest } from '../../e2e/testing/product.ts'
import type { Db } from '../../server/kernel/db/database.ts'
import { addJob } from '../../server/kernel/queue/queue.ts'
import { leave } from '../../server/testing/calls/account-deletion-calls.ts'
import { shiftedClock } from '../../server/testing/database/shifted-clock.ts'
import { withEmbeddedDatabase } from './embedded-database.ts'

const DAY = 24 * 3600

test('the clock 100 days ahead for a minute: nobody is signed out or erased for good, and publishing, counts and scheduled tasks go on', {
  timeout: 450_000,
}, async () => {
  const { env, shift } = await shiftedClock()
  const settings = { RATE_LIMIT_SCALE: '1', ACCESS_TOKEN_SECONDS: '86400' }
  const { product, client } = await startProductForTest({ env: { ...env, ...settings } })
  const users = await client.signUps(3)
  const [olga, petr] = [await client.signUp(), await client.signUp()]
  const post = await client.publish(petr)
  const likes = async () => (await client.read(`/posts/${post.id}`)).actions.likes_count
  expect((await leave({ ...client, codeFor }, olga)).status).toBe(200)
  await withEmbeddedDatabase(product.dataDir, jobsRecur)

  await shift(100 * DAY)
  expect(await likes()).toBe(0)
  await withEmbeddedDatabase(product.dataDir, async (db) => {
    await addJob(db, 'remove-expired')
    await addJob(db, 'move-accounts')
  })
  await product.printed(/"level":"error".*(the clock has jumped)/)
  await withEmbeddedDatabase(product.dataDir, jobsRecur)

  await shift(0)
  await client.publish(petr)
  await client.call('POST', `/posts/${post.id}/likes`, { token: petr.token })
  await expect.poll(likes).toBe(1)
  const refreshed = await Promise.all(
    users.map(({ cookie, clientToken }) =>
      client.call('PATCH', '/sessions/current', { body: { clientToken }, headers: { cookie } }),
    ),
  )
  expect(refreshed.map(({ status }) => status)).toEqual([200, 200, 200])
  await withEmbeddedDatabase(product.dataDir, async (db) => {
    await jobsRecur(db)
    const names = db.selectFrom('users').select('username').where('id', '=', olga.id)
    expect(await names.execute()).toEqual([{ username: olga.username }])
  })
})

/** Resolves once the jobs of a minute after this moment were queued, by the database's clock. */
async function jobsRecur(db: Db): Promise<void> {
  const { rows: asked } = await sql<{ since: Date }>`SELECT now() AS since`.execute(db)
  const since = asked[0]?.since
  const haveRecurred = async () => {
    const { rows } = await sql<{ isNew: boolean }>`
      SELECT last_execution BETWEEN ${since}::timestamptz AND now() AS "isNew"
      FROM graphile_worker._private_known_crontabs WHERE identifier = 'move-accounts'`.execute(db)
    return rows[0]?.isNew
  }
  await expect.poll(haveRecurred, { timeout: 200_000, interval: 500 }).toBe(true)
}
