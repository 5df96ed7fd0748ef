import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post, PostPage } from '../../../contract/posts.ts'
import { like } from '../../testing/calls/account-deletion-calls.ts'
import { lockWaits } from '../../testing/database/databases.ts'
import { seedWall } from '../../testing/database/seed.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { setHidden } from '../posts/hidden-posts.repository.ts'

const app = await appForFile()
const olga = await app.signUp()
const petr = await app.signUp()

const readPost = (id: string, user?: typeof olga) => app.read(`/posts/${id}`, user)
const ids = ({ posts }: Pick<PostPage, 'posts'>) => posts.map(({ id }) => id)
const remove = (id: string, { token } = olga) => app.call('DELETE', `/posts/${id}`, { token })

test('a reply names the root of its thread and the replied post, which is whole as the viewer sees it, but one level deep', async () => {
  const root = await app.publish(olga, 'Корень')
  const reply = await app.reply(petr, root.id, ' Ответ ')
  expect(reply).toMatchObject({
    text: 'Ответ',
    owner: { id: petr.id, username: petr.username },
    actions: { parent_post_id: root.id, replied_post_id: root.id },
  })
  const deeper = await app.reply(olga, reply.id, 'Ответ на ответ')
  expect(deeper.actions).toMatchObject({ parent_post_id: root.id, replied_post_id: reply.id })
  await like(app, petr, reply.id)
  for (const user of [petr, undefined]) {
    const [first, second] = [await readPost(reply.id, user), await readPost(deeper.id, user)]
    expect(first.actions).toMatchObject({ is_liked: user === petr, replies_count: 1 })
    expect(first.actions.replied_post).toEqual(await readPost(root.id, user))
    const actions = { ...first.actions, replied_post: null }
    expect(second.actions.replied_post).toEqual({ ...first, actions })
  }
  expect((await readPost(root.id)).actions.replies_count).toBe(1)
})

test('when the replied post is deleted, replied_post is null, replied_post_id stays and the reply is readable everywhere', async () => {
  const nina = await app.signUp()
  const root = await app.publish(olga)
  const reply = await app.reply(nina, root.id)
  const deeper = await app.reply(petr, reply.id)
  await remove(root.id)
  expect((await readPost(reply.id)).actions).toMatchObject({
    ...{ replied_post: null, replied_post_id: root.id },
    ...{ parent_post_id: root.id, replies_count: 1 },
  })
  expect(ids(await app.read('/posts/replies', nina))).toEqual([reply.id])
  expect(ids(await app.read(`/posts/${reply.id}/replies`))).toEqual([deeper.id])
  const late = await app.reply(petr, deeper.id)
  expect(late.actions).toMatchObject({ parent_post_id: root.id, replied_post_id: deeper.id })
})

test('the replies of a post are its direct replies, newest first, for every viewer, without deleted ones', async () => {
  const root = await app.publish(olga)
  const list = `/posts/${root.id}/replies`
  const count = async () => (await readPost(root.id, petr)).actions.replies_count
  const first = await app.reply(petr, root.id)
  const gone = await app.reply(petr, root.id)
  const second = await app.reply(olga, root.id)
  await app.reply(petr, first.id)
  expect(await count()).toBe(3)
  expect((await remove(gone.id, petr)).status).toBe(204)
  expect(await count()).toBe(2)
  for (const user of [undefined, petr]) {
    const page = await app.read(list, user)
    expect(ids(page)).toEqual([second.id, first.id])
    expect(page).toMatchObject({ firstPage: 1, lastPage: 1, total: 2, nextCursor: null })
  }
})

/** Publishes replies, each to the one before, by turns. Returns all, with the first post. */
async function talk(replies: number): Promise<Post[]> {
  const posts = [await app.publish(olga, 'Начало')]
  for (let n = 0; n < replies; n++) {
    posts.push(await app.reply(n % 2 ? olga : petr, posts.at(-1)?.id ?? ''))
  }
  return posts
}
const ancestorsOf = (post: { id: string } | undefined, query = '', user?: typeof olga) =>
  app.read(`/posts/${post?.id}/ancestors${query}`, user)

test('the ancestors of a reply are all posts up to the start of its thread, as the viewer sees them', async () => {
  const posts = await talk(5)
  const above = posts.slice(0, -1).map(({ id }) => id)
  expect(await ancestorsOf(posts[0])).toEqual({ posts: [], total: 0 })
  await like(app, petr, above[1] ?? '')
  for (const user of [undefined, petr]) {
    const shown = await Promise.all(above.map((id) => readPost(id, user)))
    expect(await ancestorsOf(posts.at(-1), '', user)).toEqual({ posts: shown, total: 5 })
  }
  const nearest = await ancestorsOf(posts.at(-1), '?limit=3')
  expect([ids(nearest), nearest.total]).toEqual([above.slice(2), 5])
})

test('an ancestor that is hidden or deleted is left out, and comes back when it is restored; the way goes on only above a hidden one', async () => {
  const posts = await talk(4)
  const [root, first, second, third] = ids({ posts }) as [string, string, string, string]
  // Signed in: a visitor gets what was cached before if the database is silent for a moment.
  const above = () => ancestorsOf(posts.at(-1), '', petr)

  // The next publication makes the node read anew, as a moderator's decision does.
  await setHidden(app.db, [second], { why: 'removed', reason: 'Спам', by: 'vera', days: 30 })
  await app.publish(olga)
  const shown = await above()
  expect([ids(shown), shown.total]).toEqual([[root, first, third], 3])
  const { actions } = shown.posts.at(-1)
  expect(actions).toMatchObject({ replied_post: null, replied_post_id: second })
  expectRefusal(await app.call('GET', `/posts/${second}/ancestors`), 'POST_NOT_FOUND')
  await setHidden(app.db, [second], null)
  await app.publish(olga)
  expect(ids(await above())).toEqual([root, first, second, third])
  await remove(first, petr)
  expect(ids(await above())).toEqual([second, third])
})

test('a thread of 120 shows the nearest 100 ancestors, and no more', async () => {
  const { id } = await app.publish(olga)
  const rows = await app.sql<{ id: string }>`
    INSERT INTO posts (id, owner_id, text, parent_post_id, replied_post_id)
    OVERRIDING SYSTEM VALUE
    SELECT ${id}::bigint + 1000000 * n, ${petr.id}::bigint, 'Ответ ' || n, ${id}::bigint, ${id}::bigint + 1000000 * (n - 1)
    FROM generate_series(1, 120) n RETURNING id`
  const { posts, total } = await ancestorsOf(rows.at(-1))
  const nearest = Array.from({ length: 100 }, (_, at) => `Ответ ${at + 20}`)
  expect(posts.map(({ text }: Post) => text)).toEqual(nearest)
  expect(total).toBe(100)
})

test('replies to a post that is being deleted return 201 or 404, and every reply with 201 exists', async () => {
  const body = { text: 'Успею ли' }
  const users = await app.signUps(6)
  const fourEach = [users, users, users, users].flat()
  for (let round = 0; round < 8; round++) {
    const { id } = await app.publish(olga)
    const answer = ({ token }: TestUser) =>
      app.call('POST', `/posts/${id}/replies`, { token, body })
    const replies = fourEach.map((user) => () => answer(user))
    const answers = await atOnce(replies.toSpliced(round, 0, () => remove(id)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    const written = answers.filter(({ status }) => status === 201)
    const late = answers.filter(({ status }) => status === 404)
    expect(written.length + late.length).toBe(replies.length)
    for (const { body } of written) {
      const read = await app.call('GET', `/posts/${body.id}`)
      expect(read).toMatchObject({ status: 200, body: { actions: { replied_post: null } } })
    }
  }
})

test('a reply that somebody likes while it is being deleted is deleted', async () => {
  const post = await app.publish(olga)
  const reply = await app.reply(olga, post.id)
  // Among few posts PostgreSQL reads them otherwise.
  await seedWall(app.db, olga.id, 2000)
  await app.sql`ANALYZE posts`
  const deletion = await app.db.transaction().execute(async (tx) => {
    await sql`UPDATE posts SET likes_count = likes_count WHERE id = ${reply.id}`.execute(tx)
    const sent = remove(reply.id)
    await expect.poll(() => lockWaits(app)).toBeGreaterThan(0)
    return { sent }
  })
  expect((await deletion.sent).status).toBe(204)
})
