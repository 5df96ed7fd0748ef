import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { OTHER_REASON } from '../../../contract/constants.ts'
import type { Post } from '../../../contract/posts.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import { comeBack, isSettled, leave } from '../../testing/account-deletion-calls.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import {
  decide,
  readQueue,
  report,
  restore,
  signUpModerator,
} from '../../testing/moderation-calls.ts'
import { appForFile } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const app = await appForFile()
const moderator = await signUpModerator(app)
const author = await app.signUp()
const reader = await app.signUp()
afterEach(async () => expect(await findCounterDifferences(app.db)).toEqual([]))

// Signed in: what a visitor of another node sees may be some milliseconds old.
const read = (id: string) => app.call('GET', `/posts/${id}`, { token: moderator.token })
const likedByReader = async (): Promise<Post[]> =>
  (await app.call('GET', '/posts?filter=liked', { token: reader.token })).body.posts
const queuedOf = async (id: string) =>
  (await readQueue(app, moderator)).find((post) => post.id === id)
const isWaiting = async (id: string) => (await queuedOf(id)) !== undefined

/** Publishes a post with a like and a reply, and reports it. */
async function reported(text = 'Купите гараж') {
  const post = await app.publish(author, text)
  const reply = await app.reply(reader, post.id)
  await app.call('POST', `/posts/${post.id}/likes`, { token: reader.token })
  await report(app, reader, { postId: post.id })
  return { ...post, reply }
}

test('the queue shows a reported post as it is and as it was reported, with reasons, comments, author and thread, those that wait longest first', async () => {
  const root = await app.publish(reader, 'Кто продаёт гараж?')
  const other = await app.signUp()
  const post = await app.reply(author, root.id, 'Гараж, недорого')
  const answer = await app.reply(reader, post.id, 'Где?')
  await report(app, reader, { postId: post.id, reasonId: '8', comment: '  Это объявление  ' })
  await report(app, other, { postId: post.id, reasonId: '1' })
  await report(app, other, { postId: post.id, reasonId: '8' })
  const edit = { token: author.token, body: { text: 'Ничего не продаю' } }
  await app.call('PATCH', `/posts/${post.id}`, edit)
  const later = await reported()
  const queue = await readQueue(app, moderator)
  expect(queue.find(({ id }) => id === post.id)).toEqual({
    id: post.id,
    text: 'Ничего не продаю',
    reportedText: 'Гараж, недорого',
    createdAt: post.created_at,
    state: 'published',
    author: {
      id: author.id,
      username: author.username,
      createdAt: expect.any(Number),
      posts: 2,
      removed: 0,
      recent: 2,
      block: null,
    },
    since: expect.any(Number),
    reporters: 2,
    reasons: [
      { name: OTHER_REASON, count: 2 },
      { name: 'Спам или реклама', count: 1 },
    ],
    comments: ['Это объявление'],
    appeal: null,
    thread: {
      before: [expect.objectContaining({ id: root.id })],
      replies: [expect.objectContaining({ id: answer.id })],
    },
  })
  expect(queue.at(-1)?.id).toBe(later.id)
})

test('the queue shows when an author registered, and how many posts are there, removed and new', async () => {
  const spammer = await app.signUp()
  const posts = [await app.publish(spammer), await app.publish(spammer), await app.publish(spammer)]
  const [removed, restored, waiting] = posts.map(({ id }) => id) as [string, string, string]
  await app.reply(spammer, waiting)
  for (const postId of [removed, restored, waiting]) await report(app, reader, { postId })
  for (const postId of [removed, restored]) {
    await decide(app, moderator, { postId, verdict: 'remove' })
  }
  await restore(app, restored)
  const facts = async () => (await queuedOf(waiting))?.author
  expect(await facts()).toMatchObject({ posts: 3, removed: 1, recent: 3, block: null })
  const day = new Date('2025-03-04T12:00:00Z')
  await sql`UPDATE users SET created_at = ${day} WHERE id = ${spammer.id}`.execute(app.db)
  await sql`UPDATE posts SET created_at = ${day} WHERE id = ${restored}`.execute(app.db)
  expect(await facts()).toMatchObject({ createdAt: day.getTime() / 1000, posts: 3, recent: 2 })
})

test('the posts of one author stand together, those first whose author waits longest', async () => {
  const [anna, boris] = [await app.signUp(), await app.signUp()]
  const written: string[] = []
  for (const by of [anna, boris, anna, boris]) {
    const { id: postId } = await app.publish(by)
    await report(app, reader, { postId })
    written.push(postId)
  }
  const [a1, b1, a2, b2] = written
  const queue = (await readQueue(app, moderator)).map(({ id }) => id)
  expect(queue.filter((id) => written.includes(id))).toEqual([a1, a2, b1, b2])
})

test('a removed post is gone from every screen at once, its replies stay, and its text stands in the journal', async () => {
  const post = await reported()
  expect((await read(post.id)).status).toBe(200)
  const decision = { postId: post.id, verdict: 'remove', note: 'Третий раз' } as const
  expect((await decide(app, moderator, decision)).status).toBe(204)
  expectRefusal(await read(post.id), 'POST_NOT_FOUND')
  expect((await read(post.reply.id)).body.actions).toMatchObject({
    replied_post_id: post.id,
    replied_post: null,
  })
  expect((await likedByReader()).map(({ id }) => id)).not.toContain(post.id)
  expect(await isWaiting(post.id)).toBe(false)
  expect(await readJournal(app.db, { postId: post.id })).toMatchObject([
    {
      actor: moderator.email,
      action: 'post.remove',
      user_id: author.id,
      reason: 'Спам или реклама',
      details: { text: 'Купите гараж', note: 'Третий раз' },
    },
  ])
})

test('a removed post that is restored is back with id, likes and replies', async () => {
  const post = await reported()
  const before = (await read(post.id)).body
  await decide(app, moderator, { postId: post.id, verdict: 'remove' })
  await restore(app, post.id)
  expect((await read(post.id)).body).toEqual(before)
  expect((await likedByReader())[0]).toMatchObject({ id: post.id, actions: { is_liked: true } })
})

test.each(['was kept', 'was restored by the operator', 'is back after an appeal'])(
  'further reports of a text that %s change nothing, and those of another text do',
  async (how) => {
    const { id: postId } = await reported()
    if (how === 'was kept') await decide(app, moderator, { postId, verdict: 'keep' })
    else {
      await decide(app, moderator, { postId, verdict: 'remove' })
      if (how === 'was restored by the operator') await restore(app, postId)
      else {
        const path = `/users/current/removed-posts/${postId}/appeal`
        await app.call('POST', path, { token: author.token, body: { text: 'Верните' } })
        await decide(app, moderator, { postId, verdict: 'keep' })
      }
    }
    expect((await read(postId)).status).toBe(200)
    for (const reasonId of ['1', '2']) {
      expect((await report(app, reader, { postId, reasonId })).status).toBe(204)
    }
    expect(await isWaiting(postId)).toBe(false)
    const edit = { token: author.token, body: { text: 'Купите два гаража' } }
    await app.call('PATCH', `/posts/${postId}`, edit)
    await report(app, reader, { postId })
    expect(await isWaiting(postId)).toBe(true)
  },
)

test('a reported post that its author deletes stays as evidence and can be decided about', async () => {
  const post = await reported('Улика')
  await app.call('DELETE', `/posts/${post.id}`, { token: author.token })
  expect(await queuedOf(post.id)).toMatchObject({ text: 'Улика', state: 'deleted' })
  const kept = app.db.selectFrom('posts').selectAll().where('id', '=', post.id)
  expect(await kept.executeTakeFirst()).toMatchObject({
    text: 'Улика',
    hidden_for: 'deleted',
    likes_count: 1,
  })
  await decide(app, moderator, { postId: post.id, verdict: 'keep' })
  expectRefusal(await read(post.id), 'POST_NOT_FOUND')
  expect(await isWaiting(post.id)).toBe(false)
})

test.each([
  ['was removed stays away', 'remove', 404],
  ['was kept is back', 'keep', 200],
] as const)(
  'a reported post whose author has left can be decided about; one that %s when the author returns',
  async (_which, verdict, expected) => {
    const leaver = await app.signUp()
    const [{ id: postId }, other] = [await app.publish(leaver), await app.publish(leaver)]
    await report(app, reader, { postId })
    await leave(app, leaver)
    await expect.poll(() => isSettled(app)).toBe(true)
    expect(await queuedOf(postId)).toMatchObject({ state: 'deleted' })
    expect((await decide(app, moderator, { postId, verdict })).status).toBe(204)
    expect(await isWaiting(postId)).toBe(false)
    await comeBack(app, leaver.email, true)
    await expect.poll(() => isSettled(app)).toBe(true)
    await expect.poll(async () => (await read(other.id)).status).toBe(200)
    expect((await read(postId)).status).toBe(expected)
  },
)

test('a post without open reports is not decided about, whether it is there or not', async () => {
  const { id } = await app.publish(author)
  for (const postId of [id, '999999', 'abc', '9'.repeat(30)]) {
    expectRefusal(await decide(app, moderator, { postId, verdict: 'remove' }), 'POST_NOT_FOUND')
  }
  expect((await read(id)).status).toBe(200)
})

test('a moderator can remove a post without a report, but not their own; nobody else can', async () => {
  const { id } = await app.publish(author, 'Никто не пожаловался')
  const seen = (postId: string, { token } = moderator) =>
    app.call('GET', `/moderation/posts/${postId}`, { token })
  expect((await seen(id)).body).toMatchObject({ id, state: 'published', reporters: 0 })
  expectRefusal(await seen(id, reader), 'NOT_FOUND')
  const remove = { verdict: 'remove', reason: 'Спам', unreported: true } as const
  expect((await decide(app, moderator, { postId: id, ...remove })).status).toBe(204)
  expect(await readJournal(app.db, { postId: id })).toMatchObject([
    { action: 'post.remove', reason: 'Спам' },
  ])
  for (const postId of [id, 'abc']) {
    expectRefusal(await seen(postId), 'POST_NOT_FOUND')
    for (const verdict of ['remove', 'keep'] as const) {
      const again = { ...remove, postId, verdict }
      expectRefusal(await decide(app, moderator, again), 'POST_NOT_FOUND')
    }
  }
  expectRefusal(await read(id), 'POST_NOT_FOUND')
  const own = await app.publish(moderator)
  expectRefusal(await decide(app, moderator, { postId: own.id, ...remove }), 'OWN_POST')
})
