import { beforeAll, expect, test } from 'vitest'
import type { Post, PostPage } from '../../../contract/posts.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
let olga: TestUser
let petr: TestUser
beforeAll(async () => {
  olga = await app.signUp()
  petr = await app.signUp()
})

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

test('own replies contain only replies of the viewer, and no posts of the wall', async () => {
  const nina = await app.signUp()
  const own = await app.publish(nina)
  const reply = await app.reply(nina, own.id)
  await app.reply(petr, own.id)
  const list = await read('/posts/replies', nina.token)
  expect(ids(list)).toEqual([reply.id])
  expect(list.total).toBe(1)
  expect(await read('/posts/replies', (await app.signUp()).token)).toMatchObject({
    posts: [],
    total: 0,
    lastPage: 1,
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
    const body = { text: 'Кому?' }
    expectRefusal(await app.call('POST', `/posts/${id}/replies`, { token, body }), 'POST_NOT_FOUND')
    expectRefusal(await app.call('GET', `/posts/${id}/replies`), 'POST_NOT_FOUND')
    expectRefusal(await app.call('GET', `/posts/${id}/replies?page=900`), 'POST_NOT_FOUND')
  }
})
