import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post, PostPage } from '../../../contract/posts.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'
import { hidePosts, showPost } from '../posts/posts.service.ts'

const app = await appForFile()
const olga = await app.signUp()
const petr = await app.signUp()

const read = async (path: string, token?: string) => (await app.call('GET', path, { token })).body
const ids = ({ posts }: PostPage) => posts.map(({ id }) => id)
const remove = (id: string, { token }: TestUser) => app.call('DELETE', `/posts/${id}`, { token })

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
  await app.call('POST', `/posts/${reply.id}/likes`, { token: petr.token })
  for (const token of [petr.token, undefined]) {
    const [first, second] = [
      await read(`/posts/${reply.id}`, token),
      await read(`/posts/${deeper.id}`, token),
    ]
    expect(first.actions).toMatchObject({ is_liked: token !== undefined, replies_count: 1 })
    expect(first.actions.replied_post).toEqual(await read(`/posts/${root.id}`, token))
    const actions = { ...first.actions, replied_post: null }
    expect(second.actions.replied_post).toEqual({ ...first, actions })
  }
  expect((await read(`/posts/${root.id}`)).actions.replies_count).toBe(1)
})

test('when the replied post is deleted, replied_post is null, replied_post_id stays and the reply is readable everywhere', async () => {
  const nina = await app.signUp()
  const root = await app.publish(olga)
  const reply = await app.reply(nina, root.id)
  const deeper = await app.reply(petr, reply.id)
  await remove(root.id, olga)
  const { actions } = await read(`/posts/${reply.id}`)
  expect(actions).toMatchObject({
    replied_post: null,
    replied_post_id: root.id,
    parent_post_id: root.id,
    replies_count: 1,
  })
  expect(ids(await read('/posts/replies', nina.token))).toEqual([reply.id])
  expect(ids(await read(`/posts/${reply.id}/replies`))).toEqual([deeper.id])
  expectRefusal(await app.call('GET', `/posts/${root.id}/replies`), 'POST_NOT_FOUND')
  const late = await app.reply(petr, deeper.id)
  expect(late.actions).toMatchObject({ parent_post_id: root.id, replied_post_id: deeper.id })
})

test('the replies of a post are its direct replies, newest first, for every viewer, without deleted ones', async () => {
  const root = await app.publish(olga)
  const first = await app.reply(petr, root.id)
  const gone = await app.reply(petr, root.id)
  const second = await app.reply(olga, root.id)
  await app.reply(petr, first.id)
  expect((await read(`/posts/${root.id}`)).actions.replies_count).toBe(3)
  expect((await remove(gone.id, petr)).status).toBe(204)
  expect((await read(`/posts/${root.id}`)).actions.replies_count).toBe(2)
  for (const token of [undefined, petr.token]) {
    const list = await read(`/posts/${root.id}/replies`, token)
    expect(ids(list)).toEqual([second.id, first.id])
    expect(list).toMatchObject({ firstPage: 1, lastPage: 1, total: 2, nextCursor: null })
  }
  expect(ids(await read(`/posts/${root.id}/replies?limit=1&page=2`))).toEqual([first.id])
})

/** Publishes replies, each to the one before, by turns. Returns all, with the first post. */
async function talk(replies: number): Promise<Post[]> {
  const posts = [await app.publish(olga, 'Начало')]
  for (let n = 0; n < replies; n++) {
    posts.push(await app.reply(n % 2 ? olga : petr, posts.at(-1)?.id ?? ''))
  }
  return posts
}
const ancestorsOf = (post: Post | undefined, query = '', token?: string) =>
  read(`/posts/${post?.id}/ancestors${query}`, token)

test('the ancestors of a reply are all posts up to the start of its thread, as the viewer sees them', async () => {
  const posts = await talk(5)
  const last = posts.at(-1)
  expect(await ancestorsOf(posts[0])).toEqual({ posts: [], total: 0 })
  for (const token of [undefined, petr.token]) {
    await app.call('POST', `/posts/${posts[1]?.id}/likes`, { token: petr.token })
    const { posts: above, total } = await ancestorsOf(last, '', token)
    const single = posts.slice(0, -1).map(({ id }) => read(`/posts/${id}`, token))
    expect(above).toEqual(await Promise.all(single))
    expect(total).toBe(5)
  }
  const nearest = await ancestorsOf(last, '?limit=3')
  expect(ids(nearest)).toEqual(posts.slice(2, 5).map(({ id }) => id))
  expect(nearest.total).toBe(5)
})

test('an ancestor that is hidden or deleted is left out, and comes back when it is restored; the way goes on only above a hidden one', async () => {
  const posts = await talk(4)
  const [root, first, second, third] = posts.map(({ id }) => id) as [string, ...string[]]
  // Signed in: a visitor gets what was cached before if the database is silent for a moment.
  const above = () => ancestorsOf(posts.at(-1), '', petr.token)

  // The next publication makes the node read anew, as a moderator's decision does.
  const hidden = { id: second ?? '', hidden_for: 'removed' } as const
  await hidePosts(app.db, [hidden.id], { why: 'removed', reason: 'Спам', by: 'vera', days: 30 })
  await app.publish(olga)
  const shown = await above()
  expect(ids(shown)).toEqual([root, first, third])
  expect(shown.total).toBe(3)
  const { actions } = shown.posts.at(-1)
  expect(actions).toMatchObject({ replied_post: null, replied_post_id: second })
  expectRefusal(await app.call('GET', `/posts/${second}/ancestors`), 'POST_NOT_FOUND')
  await showPost(app.db, hidden)
  await app.publish(olga)
  expect(ids(await above())).toEqual([root, first, second, third])
  await remove(first ?? '', petr)
  expect(ids(await above())).toEqual([second, third])
})

test('a thread of 120 shows the nearest 100 ancestors, and no more', async () => {
  const { id } = await app.publish(olga)
  const { rows } =
    await sql<Post>`INSERT INTO posts (id, owner_id, text, parent_post_id, replied_post_id)
    OVERRIDING SYSTEM VALUE
    SELECT ${id}::bigint + 1000 * n, ${petr.id}::bigint, 'Ответ ' || n, ${id}::bigint, ${id}::bigint + 1000 * (n - 1)
    FROM generate_series(1, 120) n RETURNING id`.execute(app.db)
  const { posts, total } = await ancestorsOf(rows.at(-1))
  const nearest = Array.from({ length: 100 }, (_, at) => `Ответ ${at + 20}`)
  expect(posts.map(({ text }: Post) => text)).toEqual(nearest)
  expect(total).toBe(100)
})

test('a reply to a missing post, and its list, are POST_NOT_FOUND', async () => {
  const { token } = petr
  for (const id of ['999999999', 'abc', '0']) {
    expectRefusal(await app.call('GET', `/posts/${id}/ancestors`), 'POST_NOT_FOUND')
    const body = { text: 'Кому?' }
    expectRefusal(await app.call('POST', `/posts/${id}/replies`, { token, body }), 'POST_NOT_FOUND')
    expectRefusal(await app.call('GET', `/posts/${id}/replies`), 'POST_NOT_FOUND')
    expectRefusal(await app.call('GET', `/posts/${id}/replies?page=900`), 'POST_NOT_FOUND')
  }
})
