import { beforeEach, expect, test } from 'vitest'
import type { ReceivedPage } from '../../../contract/answers.ts'
import { atOnce } from '../../testing/http/at-once.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
let anna: TestUser
let petr: TestUser
let vera: TestUser
beforeEach(async () => {
  ;[anna, petr, vera] = await Promise.all([app.signUp(), app.signUp(), app.signUp()])
})

const received = (user: TestUser, query = ''): Promise<ReceivedPage> =>
  app.read(`/posts/replies/received${query}`, user)
const state = () => app.read('/users/current/received', anna)
const see = (seen: number) =>
  app.call('PUT', '/users/current/received', { token: anna.token, body: { seen } })
const texts = ({ posts }: ReceivedPage) => posts.map(({ text }) => text)
const mute = (id: string, method: 'PUT' | 'DELETE' = 'PUT', { token } = anna) =>
  app.call(method, `/posts/${id}/muted`, { token })

test('others’ replies to my posts and replies are listed, newest first, with the number under which I received each', async () => {
  expect(await received(anna)).toEqual({
    ...{ posts: [], firstPage: 1, lastPage: 1, total: 0, nextCursor: null },
    seen: 0,
  })
  const post = await app.publish(anna, 'Вопрос')
  const first = await app.reply(petr, post.id, 'Ответ')
  const own = await app.reply(anna, first.id, 'Уточнение')
  await app.reply(vera, own.id, 'Ответ на уточнение')
  await app.reply(anna, post.id, 'Себе')
  const page = await received(anna)
  expect(texts(page)).toEqual(['Ответ на уточнение', 'Ответ'])
  expect(page.posts.map(({ received_no }) => received_no)).toEqual([2, 1])
  expect(page.posts[1]?.actions.replied_post?.text).toBe('Вопрос')
  expect(page).toMatchObject({ seen: 0, total: 2 })
  expect(texts(await received(petr))).toEqual(['Уточнение'])
})

test('unread counts up to 100 what the list shows after the mark, which only moves forward and never past what came', async () => {
  const post = await app.publish(anna)
  const [, second] = [await app.reply(petr, post.id), await app.reply(vera, post.id)]
  expect((await state()).unread).toBe(2)
  expect((await see(1)).status).toBe(204)
  expect((await state()).unread).toBe(1)
  await see(0)
  expect(await received(anna)).toMatchObject({ seen: 1 })
  await see(1_000_000)
  expect(await received(anna)).toMatchObject({ seen: 2 })
  await app.reply(petr, post.id)
  expect((await state()).unread).toBe(1)
  await app.call('DELETE', `/posts/${second.id}`, { token: vera.token })
  expect((await state()).unread).toBe(1)
  for (const wrong of [-1, 1e19, 1e300]) expectRefusal(await see(wrong), 'INVALID_REQUEST')
  await app.sql`INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
    SELECT ${petr.id}, 'Ответ', ${post.id}, ${post.id}, ${anna.id}, n FROM generate_series(4, 104) n`
  expect((await state()).unread).toBe(100)
})

test('replies that come at once, in whatever order they commit, each have a number of their own and none is skipped by the mark', async () => {
  const posts = [await app.publish(anna), await app.publish(petr), await app.publish(vera)]
  const people = [anna, petr, vera]
  const shown = new Set<string>()
  const readAll = async () => {
    const page = await received(anna, '?limit=50')
    const fresh = page.posts.filter(({ received_no }) => received_no > page.seen)
    for (const { id } of fresh) {
      expect(shown).not.toContain(id)
      shown.add(id)
    }
    const newest = page.posts[0]?.received_no
    if (newest) await see(newest)
  }
  const replies = Array.from({ length: 60 }, (_, n) => async () => {
    await app.reply(people[n % 3] as TestUser, posts[(n >> 1) % 3]?.id ?? '')
    if (n % 6 === 0) await readAll()
  })
  // Only one tab of Anna's reads at a time.
  for (let from = 0; from < replies.length; from += 6) await atOnce(replies.slice(from, from + 6))
  await readAll()
  const list: ReceivedPage = await app.read(`/posts/${posts[0]?.id}/replies?limit=50`)
  const replied = list.posts.filter(({ owner }) => owner.id !== anna.id)
  expect([...shown].sort()).toEqual(replied.map(({ id }) => id).sort())
})

test('a muted post brings no further replies, until it is unmuted; only its author may mute it', async () => {
  const post = await app.publish(anna)
  await app.reply(petr, post.id, 'До')
  expectRefusal(await mute(post.id, 'PUT', petr), 'POST_NOT_FOUND')
  expectRefusal(await mute('x'), 'POST_NOT_FOUND')
  expect((await mute(post.id)).status).toBe(204)
  expect((await state()).muted).toEqual([post.id])
  await app.reply(petr, post.id, 'Во время')
  expect((await mute(post.id, 'DELETE')).status).toBe(204)
  await app.reply(petr, post.id, 'После')
  expect(await state()).toMatchObject({ unread: 2, muted: [] })
  expect(texts(await received(anna))).toEqual(['После', 'До'])
})

test('mails about replies can be turned off and on, also before the first reply', async () => {
  expect(await state()).toEqual({ unread: 0, muted: [], wantsMail: true })
  for (const wantsMail of [false, true]) {
    const path = '/users/current/reply-mails'
    await app.call('PUT', path, { token: anna.token, body: { wantsMail } })
    expect((await state()).wantsMail).toBe(wantsMail)
  }
})
