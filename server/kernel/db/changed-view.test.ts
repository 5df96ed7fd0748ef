import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()

test('a view that a newer release has given a column fails no read or publication of a running node', async () => {
  const olga = await app.signUp()
  const post = await app.publish(olga)
  const act = async () => {
    expect((await app.call('GET', `/posts/${post.id}/replies`)).status).toBe(200)
    expect(await app.read(`/posts/${post.id}`, olga)).toEqual(post)
    await app.publish(olga)
  }
  // More often than there are connections, which have all prepared the texts then.
  for (let times = 0; times < 20; times++) await act()
  const [view] = await app.sql<{ text: string }>`
    SELECT pg_get_viewdef('hydrated_posts'::regclass) AS text`
  const changed = (view?.text ?? '').replace(/\n\s*FROM/, ', 1 AS added FROM')
  await sql.raw(`CREATE OR REPLACE VIEW hydrated_posts AS ${changed}`).execute(app.db)
  for (let times = 0; times < 20; times++) await act()
})
