import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { FROM_OLDEST } from '../../../contract/constants.ts'
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

/** A post as it appears inside its reply. */
const within = (post: Post) => ({ ...post, actions: { ...post.actions, replied_post: null } })

test('a reply names the replied post and the root of its thread, and is counted on the replied post only', async () => {
  const root = await app.publish(olga, 'Корень')
  const reply = await app.reply(petr, root.id, ' Ответ ')
  expect(reply).toMatchObject({
    text: 'Ответ',
    owner: { id: petr.id, username: petr.username },
    actions: { parent_post_id: root.id, replied_post_id: root.id },
  })
  const deeper = await app.reply(olga, reply.id, 'Ответ на ответ')
  expect(deeper.actions).toMatchObject({ parent_post_id: root.id, replied_post_id: reply.id })
  expect((await read(`/posts/${root.id}`)).actions.replies_count).toBe(1)
  expect((await read(`/posts/${reply.id}`)).actions.replies_count).toBe(1)
})

test('replied_post is the whole replied post, one level deep: its own replied_post is null', async () => {
  const root = await app.publish(olga)
  const reply = await app.reply(petr, root.id)
  const deeper = await app.reply(olga, reply.id)
  await app.call('POST', `/posts/${reply.id}/likes`, { token: petr.token })
  const answered = await read(`/posts/${reply.id}`, petr.token)
  expect(answered.actions.replied_post).toEqual(await read(`/posts/${root.id}`, petr.token))
  const seen = await read(`/posts/${deeper.id}`, petr.token)
  expect(seen.actions.replied_post).toEqual(within(answered))
  expect(seen.actions.replied_post.actions).toMatchObject({ is_liked: true, replies_count: 1 })
  expect((await read(`/posts/${deeper.id}`)).actions.replied_post.actions.is_liked).toBe(false)
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

test('the replies of a post are its direct replies, newest first, for every viewer', async () => {
  const root = await app.publish(olga)
  const first = await app.reply(petr, root.id)
  const second = await app.reply(olga, root.id)
  await app.reply(petr, first.id)
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

test('an ancestor that is edited, hidden, restored or deleted is so at once; the way goes on above a hidden one', async () => {
  const posts = await talk(4)
  const [root, first, second, third, last] = posts
  // Signed in: a visitor gets what was cached before if the database is silent for a moment.
  const fromLast = () => ancestorsOf(last, '', petr.token)
  const above = async () => ids(await fromLast())
  const edit = { token: olga.token, body: { text: 'Начало начал' } }
  await fromLast()
  await app.call('PATCH', `/posts/${root?.id}`, edit)
  expect((await fromLast()).posts[0].text).toBe('Начало начал')

  // The next publication makes the node read anew, as a moderator's decision does.
  const hidden = { id: second?.id ?? '', hidden_for: 'removed' } as const
  const by = { why: 'removed', reason: 'Спам', by: 'vera', days: 30 } as const
  await hidePosts(app.db, [hidden.id], by)
  await app.publish(olga)
  expect(await above()).toEqual([root?.id, first?.id, third?.id])
  const { posts: shown, total } = await fromLast()
  expect(shown.at(-1).actions).toMatchObject({ replied_post: null, replied_post_id: second?.id })
  expect(total).toBe(3)
  expectRefusal(await app.call('GET', `/posts/${second?.id}/ancestors`), 'POST_NOT_FOUND')
  await showPost(app.db, hidden)
  await app.publish(olga)
  expect(await above()).toEqual([root?.id, first?.id, second?.id, third?.id])

  await remove(first?.id ?? '', petr)
  expect(await above()).toEqual([second?.id, third?.id])
})

test('a thread of 120 shows the nearest 100 ancestors, and no more', async () => {
  const posts = await talk(0)
  await sql`WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 120)
    INSERT INTO posts (id, owner_id, text, parent_post_id, replied_post_id) OVERRIDING SYSTEM VALUE
    SELECT ${posts[0]?.id}::bigint + 1000 * n, ${petr.id}::bigint, 'Ответ ' || n, ${posts[0]?.id}::bigint,
      CASE WHEN n = 1 THEN ${posts[0]?.id}::bigint ELSE ${posts[0]?.id}::bigint + 1000 * (n - 1) END
    FROM n`.execute(app.db)
  const last = { ...posts[0], id: String(Number(posts[0]?.id) + 120_000) } as Post
  const { posts: above, total } = await ancestorsOf(last)
  expect(above.map(({ text }: Post) => text)).toEqual(
    Array.from({ length: 100 }, (_, at) => `Ответ ${at + 20}`),
  )
  expect(total).toBe(100)
})

test.each(['limit=0', 'limit=101', 'page=1', 'cursor=5'])('ancestors refuse ?%s', async (query) => {
  const { id } = await app.publish(olga)
  expectRefusal(await app.call('GET', `/posts/${id}/ancestors?${query}`), 'INVALID_REQUEST')
})

test('from the cursor of the oldest, replies come oldest first, each once, to the end', async () => {
  const root = await app.publish(olga)
  const replies: string[] = []
  for (let n = 0; n < 7; n++) replies.push((await app.reply(petr, root.id)).id)
  const seen: string[] = []
  for (let cursor: string | null = FROM_OLDEST; cursor !== null; ) {
    const page: PostPage = await read(`/posts/${root.id}/replies?limit=3&cursor=${cursor}`)
    expect(page.total).toBe(replies.length)
    seen.push(...ids(page))
    cursor = page.nextCursor
    if (seen.length === 3) replies.push((await app.reply(olga, root.id)).id)
  }
  expect(seen).toEqual(replies)
})

test('a deleted reply is removed from the count, the list and the total', async () => {
  const root = await app.publish(olga)
  const gone = await app.reply(petr, root.id)
  const stays = await app.reply(petr, root.id)
  expect((await remove(gone.id, petr)).status).toBe(204)
  expect((await read(`/posts/${root.id}`)).actions.replies_count).toBe(1)
  expect(await read(`/posts/${root.id}/replies`)).toMatchObject({
    total: 1,
    posts: [{ id: stays.id }],
  })
})

test('the text of a reply follows the rules of a post’s text', async () => {
  const { id } = await app.publish(olga)
  const { token } = petr
  for (const text of ['', ' ', '\u200b', 'а\u0000', 'я'.repeat(501), 7, null]) {
    const sent = { token, body: { text } }
    expectRefusal(await app.call('POST', `/posts/${id}/replies`, sent), 'INVALID_REQUEST')
  }
  expect((await read(`/posts/${id}`)).actions.replies_count).toBe(0)
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
