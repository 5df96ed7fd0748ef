import { beforeEach, expect, test } from 'vitest'
import { feedPath } from '../../../contract/pages.ts'
import type { Post, PostPage } from '../../../contract/posts.ts'
import { comeBack, leave, like } from '../../testing/calls/account-deletion-calls.ts'
import { countCodes } from '../../testing/calls/sign-in-calls.ts'
import { passLimitTime } from '../../testing/database/passing-time.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, strictApp } from '../../testing/test-app.ts'
import { setHidden } from './hidden-posts.repository.ts'

const app = await appForFile()
let olga: TestUser
let petr: TestUser
let post: Post
beforeEach(async () => {
  ;[olga, petr] = await Promise.all([app.signUp(), app.signUp()])
  post = await app.publish(olga, 'Встречаемся в семь')
  await endEditPeriod(post)
})

const endEditPeriod = ({ id }: Post, own = app) =>
  own.sql`UPDATE posts SET created_at = created_at - interval '11 minutes' WHERE id = ${id}`
const clarify = (id: string, text = 'В восемь', { token } = olga, key = crypto.randomUUID()) =>
  app.call('POST', `/posts/${id}/clarification`, {
    ...{ token, body: { text }, headers: { 'idempotency-key': key } },
  })
const takeAway = (id: string, { token } = olga) =>
  app.call('DELETE', `/posts/${id}/clarification`, { token })
const shown = async (id: string, viewer?: TestUser): Promise<string | undefined> =>
  (await app.read(`/posts/${id}`, viewer)).clarification?.text
const withoutQuote = (it: Post) => ({ ...it, actions: { ...it.actions, replied_post: null } })
const find = ({ posts }: PostPage, id: string) => posts.find((it) => it.id === id)

test('a clarification stands under its post wherever the post stands, as each viewer sees it, and is one reply', async () => {
  const answer = await app.reply(petr, post.id, 'Где?')
  await like(app, petr, post.id)
  const { status, body: reply } = await clarify(post.id)
  expect(status).toBe(201)
  expect(reply).toMatchObject({
    ...{ text: 'В восемь', owner: { id: olga.id } },
    actions: { replied_post_id: post.id, replied_post: { clarification: { id: reply.id } } },
  })
  await like(app, petr, reply.id)
  for (const viewer of [undefined, petr]) {
    const expected = withoutQuote(await app.read(`/posts/${reply.id}`, viewer))
    expect(expected.actions.is_liked).toBe(viewer === petr)
    const q = encodeURIComponent('встречаемся')
    const quoting = await app.read(`/posts/${answer.id}`, viewer)
    const places: Record<string, Post> = {
      page: await app.read(`/posts/${post.id}`, viewer),
      wall: find(await app.read('/posts', viewer), post.id) as Post,
      author: find(await app.read(`/posts?userId=${olga.id}`, viewer), post.id) as Post,
      search: find(await app.read(`/posts/search?q=${q}`, viewer), post.id) as Post,
      quote: quoting.actions.replied_post,
      ...(viewer && { liked: (await app.read('/posts?filter=liked', viewer)).posts[1] }),
    }
    for (const [place, it] of Object.entries(places)) {
      expect(it.clarification, place).toEqual(expected)
      expect(it.actions.replies_count, place).toBe(2)
    }
  }
  expect((await app.read(`/posts/${post.id}/replies`)).posts[0].id).toBe(reply.id)
  expect((await app.reply(petr, post.id)).actions.replied_post?.clarification?.id).toBe(reply.id)
})

test('nobody is told of a clarification', async () => {
  await clarify(post.id)
  expect((await app.read('/users/current/received', olga)).unread).toBe(0)
})

test('only the author clarifies a post, once it can no longer be edited, and no clarification has one', async () => {
  expectRefusal(await clarify(post.id, 'Чужое', petr), 'POST_NOT_FOUND')
  expectRefusal(await takeAway(post.id, petr), 'POST_NOT_FOUND')
  for (const id of ['0', 'x', '999999999999999999']) {
    expectRefusal(await clarify(id), 'POST_NOT_FOUND')
    expectRefusal(await takeAway(id), 'POST_NOT_FOUND')
  }
  const fresh = await app.publish(olga)
  expectRefusal(await clarify(fresh.id), 'INVALID_REQUEST')
  const { body: reply } = await clarify(post.id)
  await endEditPeriod(reply)
  expectRefusal(await clarify(reply.id), 'INVALID_REQUEST')
  expect((await app.read(`/posts/${post.id}/replies`)).total).toBe(1)
})

test('the database refuses a clarification that is no own reply to this post', async () => {
  const own = await app.reply(olga, post.id)
  const others = await app.reply(petr, post.id)
  const toAnother = await app.reply(olga, others.id)
  for (const { id } of [others, toAnother, post]) {
    const set = app.sql`UPDATE posts SET clarification_id = ${id} WHERE id = ${post.id}`
    await expect(set).rejects.toMatchObject({ code: '23514' })
  }
  await app.sql`UPDATE posts SET clarification_id = ${own.id} WHERE id = ${post.id}`
  expect(await shown(post.id)).toBe(own.text)
})

test('a new clarification takes the place of the last, which stays a reply; both may be taken away, also twice', async () => {
  const { body: first } = await clarify(post.id, 'В восемь')
  await clarify(post.id, 'В девять')
  expect(await shown(post.id)).toBe('В девять')
  expect((await app.read(`/posts/${first.id}`)).text).toBe('В восемь')
  for (const _ of [1, 2]) {
    const { status, body } = await takeAway(post.id)
    expect([status, body.id, body.clarification]).toEqual([200, post.id, undefined])
  }
  expect(await shown(post.id)).toBeUndefined()
  expect((await app.read(`/posts/${post.id}/replies`)).total).toBe(2)
})

test('a deleted, hidden or removed clarification no longer stands under its post; one that is shown again does', async () => {
  const { body: first } = await clarify(post.id)
  await app.call('DELETE', `/posts/${first.id}`, { token: olga.token })
  expect(await shown(post.id)).toBeUndefined()
  const { body: reply } = await clarify(post.id, 'В девять')
  for (const why of ['reported', 'removed'] as const) {
    await setHidden(app.db, [reply.id], { why, reason: null, by: 'test', days: 1 })
    expect(await shown(post.id, petr)).toBeUndefined()
    await setHidden(app.db, [reply.id], null)
    expect(await shown(post.id, olga)).toBe('В девять')
  }
})

test('the clarification of who leaves goes and returns with the post', async () => {
  await clarify(post.id)
  await leave(app, olga)
  await expect.poll(async () => (await app.call('GET', `/posts/${post.id}`)).status).toBe(404)
  expect((await comeBack(app, olga.email, true)).status).toBe(200)
  await expect.poll(async () => (await app.call('GET', `/posts/${post.id}`)).status).toBe(200)
  await expect.poll(() => shown(post.id)).toBe('В восемь')
})

test('a repeated clarification is published once, with the same answer, even of several at once', async () => {
  const key = crypto.randomUUID()
  const answers = await atOnce(
    Array.from({ length: 4 }, () => () => clarify(post.id, 'В восемь', olga, key)),
  )
  expect(countCodes(answers)).toEqual({ ok: 4 })
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect((await app.read(`/posts/${post.id}/replies`)).total).toBe(1)
})

test('a page that shows a post shows a clarification, and not one that is deleted, from the next read on', async () => {
  const path = feedPath('author', olga.username)
  const readPage = async () => (await fetch(app.url + path)).text()
  expect(await readPage()).not.toContain('Автор уточняет')
  const { body: reply } = await clarify(post.id)
  await expect.poll(readPage).toContain('Автор уточняет: В восемь')
  await app.call('DELETE', `/posts/${reply.id}`, { token: olga.token })
  expect(await readPage()).not.toContain('Автор уточняет')
})

test('a post is clarified once an hour, also after its clarification was taken away; a refused one counts not', async () => {
  const strict = await strictApp()
  const author = await strict.signUp()
  const own = await strict.publish(author)
  await endEditPeriod(own, strict)
  const send = (text: string) =>
    strict.call('POST', `/posts/${own.id}/clarification`, { token: author.token, body: { text } })
  expectRefusal(await send(''), 'INVALID_REQUEST')
  expect((await send('Раз')).status).toBe(201)
  await strict.call('DELETE', `/posts/${own.id}/clarification`, { token: author.token })
  const refused = await send('Два')
  expectRefusal(refused, 'TOO_MANY_REQUESTS')
  expect(refused.body.message).toMatch(/^Запись можно уточнить раз в час/)
  await passLimitTime(strict, 3600)
  expect((await send('Два')).status).toBe(201)
})
