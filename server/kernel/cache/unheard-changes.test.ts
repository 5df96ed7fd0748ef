import { type RawBuilder, sql } from 'kysely'
import { beforeAll, beforeEach, expect } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { PAST_CACHE, type TestUser } from '../../testing/client.ts'
import { appForFile, testPerNode } from '../../testing/test-app.ts'

const testHere = testPerNode('responses that each node caches for itself')
const app = await appForFile()
let olga: TestUser
let vera: TestUser
let petr: TestUser
let post: Post
beforeAll(async () => {
  olga = await app.signUp()
  vera = await app.signUp()
  petr = await app.signUp()
})
beforeEach(async () => {
  post = await app.publish(olga)
  await reply().execute(app.db)
})

const reply = () => sql`INSERT INTO posts (owner_id, text, parent_post_id, replied_post_id)
  VALUES (${vera.id}, 'Ответ', ${post.id}, ${post.id})`

/** Each is a commit that the node is not told of, as it is for a moment between commit and NOTIFY. */
const CHANGES: [what: string, change: () => RawBuilder<unknown>][] = [
  ['a publication', () => sql`INSERT INTO posts (owner_id, text) VALUES (${olga.id}, 'Новое')`],
  ['a reply', reply],
  ['an edit', () => sql`UPDATE posts SET text = 'Иначе' WHERE id = ${post.id}`],
  [
    'a removal',
    () => sql`UPDATE posts SET hidden_for = 'removed', hidden_until = now() WHERE id = ${post.id}`,
  ],
  ['a deletion', () => sql`DELETE FROM posts WHERE id = ${post.id}`],
  ['a renaming', () => sql`UPDATE users SET username = 'olga_2' WHERE id = ${olga.id}`],
  ['a departure', () => sql`UPDATE users SET deleted_at = now() WHERE id = ${vera.id}`],
]

const cachedPaths = () => [
  '/posts',
  `/posts?userId=${olga.id}`,
  `/posts/${post.id}`,
  `/posts/${post.id}/replies`,
]

/** Reads as visitors do, or past the cache. */
async function readAll(options?: { token: string; headers: Record<string, string> }) {
  const answers = cachedPaths().map((path) => app.call('GET', path, options))
  return (await Promise.all(answers)).map(({ body }) => body)
}

testHere.each(CHANGES)(
  'once a node has shown %s, no response that it serves is from before, although it was not told',
  async (_what, change) => {
    await readAll()
    await change().execute(app.db)
    await app.call('GET', '/posts?limit=50')
    const shown = await readAll()
    expect(shown).toEqual(await readAll({ token: petr.token, headers: PAST_CACHE }))
  },
)

testHere('a deletion counts also where a hundred posts are newer', async () => {
  await sql`INSERT INTO posts (owner_id, text) SELECT ${petr.id}, 'Новее' FROM generate_series(1, 100)`.execute(
    app.db,
  )
  const [, own] = await readAll()
  await sql`DELETE FROM posts WHERE id = ${post.id}`.execute(app.db)
  await app.call('GET', '/posts?limit=50')
  const [, shown] = await readAll()
  expect(shown.total).toBe(own.total - 1)
})

testHere('an answer that a post is not there counts as showing its deletion', async () => {
  const [wall] = await readAll()
  await sql`DELETE FROM posts WHERE id = ${post.id}`.execute(app.db)
  expect((await app.call('GET', `/posts/${post.id}/replies?limit=1`)).status).toBe(404)
  const [shown] = await readAll()
  expect(shown.total).toBe(wall.total - 1)
})
