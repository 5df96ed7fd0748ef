import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { SOMETHING } from '../../../contract/post.fixture.ts'
import type { Post, PostPage } from '../../../contract/posts.ts'
import { readConfig } from '../../kernel/config/config.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { lockForEdit, storeEdit } from './posts.repository.ts'

const app = await appForFile()
const olga = await app.signUp()

const ids = ({ posts }: PostPage) => posts.map(({ id }) => id)
const remove = (id: string, { token } = olga) => app.call('DELETE', `/posts/${id}`, { token })

/** Publishes `count` posts. Returns their ids, the newest first. */
async function publishMany(user: TestUser, count: number): Promise<string[]> {
  const published: string[] = []
  while (published.length < count) published.unshift((await app.publish(user)).id)
  return published
}

test('a published post is the first of the wall, for its author and for visitors; a reply is not on it', async () => {
  const empty = { posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null }
  expect(await app.read('/posts')).toEqual(empty)
  const earlier = await app.publish(olga, 'Раньше')
  const body = { ...SOMETHING, text: `  ${SOMETHING.text}  ` }
  const { body: post } = await app.call('POST', '/posts', { token: olga.token, body })
  await app.reply(olga, earlier.id)
  expect(post).toMatchObject({
    ...SOMETHING,
    is_modified: false,
    owner: { id: olga.id, username: olga.username },
    actions: {
      ...{ is_liked: false, likes_count: 0, replies_count: 0 },
      ...{ parent_post_id: null, replied_post_id: null, replied_post: null },
    },
  })
  expect(Math.abs(post.created_at - Date.now() / 1000)).toBeLessThan(60)
  for (const user of [undefined, olga]) {
    for (const path of ['/posts', '/posts?filter=all']) {
      const wall = await app.read(path, user)
      expect(wall.posts[0]).toEqual(post)
      expect([ids(wall), wall.total]).toEqual([[post.id, earlier.id], 2])
    }
  }
})

test('a page has 10 posts unless limit says otherwise, newest first; one past the last is an empty list, even page=1e9', async () => {
  const petr = await app.signUp()
  const newestFirst = await publishMany(petr, 13)
  const own = `/posts?userId=${petr.id}&`
  expect(ids(await app.read(own))).toEqual(newestFirst.slice(0, 10))
  expect(ids(await app.read(`${own}page=2`))).toEqual(newestFirst.slice(10))
  expect(await app.read(`${own}limit=4`)).toMatchObject({ firstPage: 1, lastPage: 4, total: 13 })
  for (const query of ['limit=1', 'limit=50', 'limit=5.0', 'cursor=1']) {
    expect((await app.call('GET', own + query)).status, query).toBe(200)
  }
  const none = { posts: [], nextCursor: null }
  for (const page of ['3', '1e9', '2147483647']) {
    for (const path of ['/posts?', own, '/posts?filter=liked&']) {
      expect(await app.read(`${path}page=${page}`, petr)).toMatchObject(none)
    }
  }
})

test('cursors neither repeat nor skip posts while others are published and deleted', async () => {
  const petr = await app.signUp()
  const newestFirst = await publishMany(petr, 12)
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const place = cursor && `&cursor=${cursor}`
    const page: PostPage = await app.read(`/posts?userId=${petr.id}&limit=4${place}`)
    seen.push(...ids(page))
    cursor = page.nextCursor
    // The last that was seen, to which the cursor points, and one before it.
    for (const id of seen.slice(-2)) await remove(id, petr)
    await app.publish(petr, 'Ещё')
  }
  expect(seen).toEqual(newestFirst)
})

const REFUSED = [
  ...['limit=1e6', 'limit=51', 'limit=0', 'limit=2.5', 'limit=', 'limit=0x10', 'limit=5&limit=6'],
  ...['page=0', 'page=-1', 'page=2147483648', 'page=1e400', 'page=1&cursor=5'],
  ...['cursor=', 'cursor=garbage', 'cursor=-1', `cursor=${'9'.repeat(19)}`, 'cursor=%00'],
  ...["cursor=1'--", 'cursor=1&cursor=2', 'filter=mine', 'userId=%00', 'unknown=1', '__proto__=1'],
]

test.each([
  ['/posts', REFUSED],
  ['/posts/replies', ['limit=51', 'page=0', 'cursor=x', 'page=1&cursor=5', 'filter=all']],
  ['/posts/1/replies', ['limit=51', 'cursor=x', 'filter=all', 'userId=1']],
  ['/posts/1/ancestors', ['limit=0', 'limit=101', 'page=1', 'cursor=5']],
])('%s refuses a query that it does not describe as INVALID_REQUEST', async (path, queries) => {
  for (const query of queries) {
    const { token } = olga
    expectRefusal(await app.call('GET', `${path}?${query}`, { token }), 'INVALID_REQUEST')
  }
})

const HOSTILE = `<script>alert(1)</script> '; DROP TABLE posts; -- \\ " \\u0000`

/** [what is sent, text, what is stored]; contract/text.test.ts has all the rules. */
test.each([
  ['that is normalised', ' и\u0306 а\u202eб\u202c\n', 'й аб'],
  ['of 500 emoji', '😀'.repeat(500), '😀'.repeat(500)],
  ['of markup and of what SQL or JSON would choke on', HOSTILE, HOSTILE],
])('a post with a text %s is published', async (_what, text, stored) => {
  const post = await app.publish(olga, text)
  expect(post.text).toBe(stored)
  expect((await app.read(`/posts/${post.id}`)).text).toBe(stored)
})

/** [what is sent, the text in JSON] */
test.each([
  ['nothing', '""'],
  ['501 emoji', `"${'😀'.repeat(501)}"`],
  ['NUL', '"а\\u0000б"'],
  ['a lone surrogate', '"а\\ud83dб"'],
])('a post, a reply or an edit with %s is INVALID_REQUEST and changes nothing', async (_, json) => {
  const petr = await app.signUp()
  const { token } = petr
  const post = await app.publish(petr)
  const body = `{"text":${json}}`
  for (const [method, path] of [
    ['POST', '/posts'],
    ['POST', `/posts/${post.id}/replies`],
    ['PATCH', `/posts/${post.id}`],
  ] as const) {
    expectRefusal(await app.call(method, path, { token, body }), 'INVALID_REQUEST')
  }
  expect((await app.read(`/posts?userId=${petr.id}`)).posts).toEqual([post])
})

test('a body that is not UTF-8 is INVALID_REQUEST', async () => {
  const body = Buffer.from('{"text":"\u00ff"}', 'latin1')
  const response = await fetch(`${app.url}/api/v1/posts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${olga.token}` },
    body,
  })
  expectRefusal({ status: response.status, body: await response.json() }, 'INVALID_REQUEST')
})

const edit = ({ id }: Post, text: string, { token } = olga, to = app) =>
  to.call('PATCH', `/posts/${id}`, { token, body: { text } })

const age = ({ id }: Post, seconds: number, db: Queryable = app.db) =>
  sql`UPDATE posts SET created_at = now() - ${seconds} * interval '1 second'
    WHERE id = ${id}`.execute(db)

test('an edit changes the text of a post or reply, marks it as modified and changes nothing else', async () => {
  const reply = await app.reply(olga, (await app.publish(olga)).id)
  for (const post of [await app.publish(olga), reply]) {
    const { body } = await edit(post, '  Теперь иначе ')
    const { modified_at } = body
    expect(body).toEqual({ ...post, text: 'Теперь иначе', is_modified: true, modified_at })
    expect(Math.abs(Date.now() / 1000 - modified_at)).toBeLessThan(60)
    expect(await app.read(`/posts/${post.id}`)).toEqual(body)
  }
})

test('a post can be edited 9:59 after publishing, and not 10:01 after it, unless EDIT_PERIOD_SECONDS says otherwise', async () => {
  const post = await app.publish(olga)
  const { databaseUrl } = app
  const brief = await appForTest({ databaseUrl, config: { editPeriodSeconds: 60 } })
  await age(post, 61)
  expectRefusal(await edit(post, 'Опоздала', olga, brief), 'EDIT_PERIOD_EXPIRED')
  await age(post, 540)
  expect((await edit(post, 'Успела')).status).toBe(200)
  // In a transaction, now() stands still.
  await app.db.transaction().execute(async (db) => {
    const { editPeriodSeconds: periodSeconds } = readConfig({})
    const last = { id: post.id, ownerId: olga.id, written: SOMETHING, periodSeconds }
    await age(post, 599, db)
    expect(await lockForEdit(db, last)).toEqual({ text: 'Успела', is_late: false, is_same: false })
    await storeEdit(db, last)
  })
  await age(post, 601)
  expectRefusal(await edit(post, 'Опоздала'), 'EDIT_PERIOD_EXPIRED')
  expect(await app.read(`/posts/${post.id}`)).toMatchObject(SOMETHING)
})

test('an edit to the same text, however it is spaced or composed, is INVALID_REQUEST and marks nothing', async () => {
  const post = await app.publish(olga, 'Мой край')
  for (const same of ['Мой край', ' Мой край\n', 'Мой край'.normalize('NFD')]) {
    expectRefusal(await edit(post, same), 'INVALID_REQUEST')
  }
  expect((await app.read(`/posts/${post.id}`)).is_modified).toBe(false)
})

test('a deleted post is gone at once, and an id that no post has is POST_NOT_FOUND: reading, editing, liking, deleting, reporting and replying', async () => {
  const post = await app.publish(olga)
  const { token } = olga
  expect((await remove(post.id)).status).toBe(204)
  const body = { text: 'Поздно' }
  for (const [method, path, sent] of [
    ['GET', '', undefined],
    ['PATCH', '', body],
    ['DELETE', '', undefined],
    ['POST', '/likes', undefined],
    ['DELETE', '/likes', undefined],
    ['GET', '/replies', undefined],
    ['GET', '/replies?page=900', undefined],
    ['GET', '/ancestors', undefined],
    ['POST', '/replies', body],
    ['POST', '/reports?reason_id=1', undefined],
  ] as const) {
    for (const id of [post.id, '999999999', 'abc', '0']) {
      const answer = await app.call(method, `/posts/${id}${path}`, { token, body: sent })
      expectRefusal(answer, 'POST_NOT_FOUND')
    }
  }
  for (const id of ['-1', '01', '1.5', '9223372036854775808', "1' OR 1=1"]) {
    expectRefusal(await app.call('GET', `/posts/${id}`), 'POST_NOT_FOUND')
  }
})

type Sent = { key: string; text?: string; to?: string; by?: TestUser }

function send({ key, text = 'Один раз', to, by = olga }: Sent) {
  const path = to === undefined ? '/posts' : `/posts/${to}/replies`
  const headers = { 'idempotency-key': key }
  return app.call('POST', path, { token: by.token, headers, body: { text } })
}

test('a retry with the same Idempotency-Key returns the first post and publishes nothing; another key, or another user’s, publishes', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'k-1', by: petr })
  expect(first.status).toBe(201)
  for (const text of ['Один раз', 'Уже иначе']) {
    const again = await send({ key: 'k-1', text, by: petr })
    expect(again).toMatchObject({ status: 201, body: first.body })
  }
  const wall = await app.read(`/posts?userId=${petr.id}`)
  expect(wall).toMatchObject({ total: 1, posts: [first.body] })
  for (const other of [{ key: 'K-1', by: petr }, { key: 'k-1' }]) {
    expect((await send(other)).body.id).not.toBe(first.body.id)
  }
})

test('a retry of a reply returns the reply even when the replied post has been deleted, unless the reply is gone too', async () => {
  const { id: to } = await app.publish(olga)
  const [late, gone] = [await send({ key: 'late', to }), await send({ key: 'gone-reply', to })]
  await remove(gone.body.id)
  expectRefusal(await send({ key: 'gone-reply', to }), 'POST_NOT_FOUND')
  expect((await app.read(`/posts/${to}/replies`)).total).toBe(1)
  await remove(to)
  const retry = await send({ key: 'late', to })
  expect(retry).toMatchObject({ status: 201, body: { id: late.body.id } })
  for (const key of ['gone-reply', 'later']) {
    expectRefusal(await send({ key, to }), 'POST_NOT_FOUND')
  }
})

test('a key is stored for a day, and publishes again after that', async () => {
  const petr = await app.signUp()
  const first = await send({ key: 'yesterday', by: petr })
  const second = await send({ key: 'today', by: petr })
  const keys = () => app.sql`SELECT key FROM idempotency_keys WHERE owner_id = ${petr.id}`
  await app.sql`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours'
    WHERE owner_id = ${petr.id} AND key = 'yesterday'`
  await addJob(app.db, 'remove-expired')
  await expect.poll(keys).toEqual([{ key: 'today' }])
  expect((await send({ key: 'today', by: petr })).body.id).toBe(second.body.id)
  const again = await send({ key: 'yesterday', by: petr })
  expect(again.status).toBe(201)
  expect(again.body.id).not.toBe(first.body.id)
})

test.each(['', 'ключ', 'a b', 'x'.repeat(101)])(
  'the Idempotency-Key «%s» is INVALID_REQUEST',
  async (key) => {
    // fetch takes header values as bytes, one character each.
    const bytes = Buffer.from(key).toString('latin1')
    expectRefusal(await send({ key: bytes }), 'INVALID_REQUEST')
  },
)
