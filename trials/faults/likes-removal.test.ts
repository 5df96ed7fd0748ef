import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { signUpUsers, startProductForTest } from '../../e2e/testing/product.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import type { Db } from '../../server/kernel/db/database.ts'
import { withEmbeddedDatabase } from './embedded-database.ts'

const FANS = 60_000
/** Likes inserted by one statement, few enough for its timeout of 3 s on a busy machine. */
const PIECE = 5000
/** The task runs again with the next minute. */
const NEXT_MINUTE = { timeout: 90_000, interval: 200 }

test('killed while it removes the likes of a deleted post: the post stays gone, and the rest goes within a minute of the next start', async () => {
  const { product, client } = await startProductForTest()
  const [olga] = await signUpUsers(client, 1)
  if (!olga) throw new Error('nobody signed up')
  const { id } = await client.publish(olga)
  await withEmbeddedDatabase(product.dataDir, (db) => seedFans(db, id))

  const { status } = await client.call('DELETE', `/posts/${id}`, { token: olga.token })
  expect(status).toBe(204)
  await withEmbeddedDatabase(product.dataDir, (db) =>
    expect.poll(() => countLikes(db), { interval: 5 }).toBeLessThan(FANS),
  )
  await product.stop('SIGKILL')
  await product.start()

  expect((await client.call('GET', `/posts/${id}`)).status).toBe(404)
  await withEmbeddedDatabase(product.dataDir, async (db) => {
    expect(await countLikes(db), 'it was killed in the middle').toBeGreaterThan(0)
    expect(await findCounterDifferences(db)).toEqual([])
    await expect.poll(() => countLikes(db), NEXT_MINUTE).toBe(0)
    await expect.poll(() => db.selectFrom('posts').select('id').execute()).toEqual([])
    expect(await findCounterDifferences(db)).toEqual([])
  })
}, 180_000)

async function seedFans(db: Db, postId: string): Promise<void> {
  for (let from = 1; from <= FANS; from += PIECE) {
    await sql`WITH fans AS (
        INSERT INTO users (username, email, email_key)
        SELECT 'fan_' || n, 'fan' || n || '@example.org', 'fan' || n || '@example.org'
        FROM generate_series(${from}::int, ${from + PIECE - 1}::int) n RETURNING id
      )
      INSERT INTO likes (post_id, user_id) SELECT ${postId}::bigint, id FROM fans`.execute(db)
  }
}

async function countLikes(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::int AS count FROM likes`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}
