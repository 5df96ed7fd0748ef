import { expect, test } from 'vitest'
import { OTHER_REASON } from '../../../contract/constants.ts'
import { EMPTY_POST_BODY } from '../../../contract/post-rules.ts'
import { readJournal } from '../../kernel/journal/journal.ts'
import {
  areTransitionsDone,
  comeBack,
  leave,
  like,
} from '../../testing/calls/account-deletion-calls.ts'
import {
  decide,
  readQueue,
  report,
  restore,
  signUpModerator,
} from '../../testing/calls/moderation-calls.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { mailAppForFile } from '../../testing/test-app.ts'

const { app, mailbox } = await mailAppForFile()
const moderator = await signUpModerator(app)
const author = await app.signUp()
const reader = await app.signUp()

// Signed in: what a visitor of another node sees may be some milliseconds old.
const read = (id: string) => app.call('GET', `/posts/${id}`, { token: moderator.token })
const queuedOf = async (id: string) =>
  (await readQueue(app, moderator)).find((post) => post.id === id)
const isWaiting = async (id: string) => (await queuedOf(id)) !== undefined
const decideOn = (postId: string, verdict: 'remove' | 'keep') =>
  decide(app, moderator, { postId, verdict })
const edit = (id: string, text: string) =>
  app.call('PATCH', `/posts/${id}`, { token: author.token, body: { text } })

async function publishReported(text = 'Купите гараж', by = author): Promise<string> {
  const { id: postId } = await app.publish(by, text)
  await report(app, reader, { postId })
  return postId
}

test('the queue shows a reported post as it is and as it was reported, with reasons, comments, author and thread, those that wait longest first', async () => {
  const root = await app.publish(reader, 'Кто продаёт гараж?')
  const other = await app.signUp()
  const { id: postId, created_at } = await app.reply(author, root.id, 'Гараж, недорого')
  const answer = await app.reply(reader, postId, 'Где?')
  await report(app, reader, { postId, reasonId: '8', comment: '  Это объявление  ' })
  await report(app, other, { postId, reasonId: '1' })
  await report(app, other, { postId, reasonId: '8' })
  await edit(postId, 'Ничего не продаю')
  const later = await publishReported()
  const queue = await readQueue(app, moderator)
  expect(queue.find(({ id }) => id === postId)).toEqual({
    ...EMPTY_POST_BODY,
    id: postId,
    text: 'Ничего не продаю',
    reportedText: 'Гараж, недорого',
    createdAt: created_at,
    state: 'published',
    author: {
      ...{ id: author.id, username: author.username, createdAt: expect.any(Number) },
      ...{ posts: 2, removed: 0, recent: 2, block: null },
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
  expect(queue.at(-1)?.id).toBe(later)
})

test('the queue shows when an author registered, and how many posts are there, removed and new', async () => {
  const spammer = await app.signUp()
  const removed = await publishReported('Реклама', spammer)
  const restored = await publishReported('Не реклама', spammer)
  const waiting = await publishReported('Реклама?', spammer)
  await app.reply(spammer, waiting)
  for (const postId of [removed, restored]) await decideOn(postId, 'remove')
  await restore(app, restored)
  const facts = async () => (await queuedOf(waiting))?.author
  expect(await facts()).toMatchObject({ posts: 3, removed: 1, recent: 3, block: null })
  const day = new Date('2025-03-04T12:00:00Z')
  await app.sql`UPDATE users SET created_at = ${day} WHERE id = ${spammer.id}`
  await app.sql`UPDATE posts SET created_at = ${day} WHERE id = ${restored}`
  expect(await facts()).toMatchObject({ createdAt: day.getTime() / 1000, posts: 3, recent: 2 })
})

test('the posts of one author stand together, those first whose author waits longest', async () => {
  const [anna, boris] = [await app.signUp(), await app.signUp()]
  const a1 = await publishReported('Один', anna)
  const b1 = await publishReported('Два', boris)
  const a2 = await publishReported('Три', anna)
  const b2 = await publishReported('Четыре', boris)
  const queue = (await readQueue(app, moderator)).map(({ id }) => id)
  expect(queue.slice(-4)).toEqual([a1, a2, b1, b2])
})

test('an appeal stands before all reports, with the other posts of its author, and is counted', async () => {
  const carl = await app.signUp()
  const reported = await publishReported('Пять', carl)
  const appealed = await publishReported('Шесть', carl)
  await decide(app, moderator, { postId: appealed, verdict: 'remove' })
  const body = { text: 'Прошу вернуть' }
  await app.call('POST', `/users/current/removed-posts/${appealed}/appeal`, {
    token: carl.token,
    body,
  })
  const queue = await app.read('/moderation/queue', moderator)
  expect(queue.posts.slice(0, 2).map(({ id }: { id: string }) => id)).toEqual([appealed, reported])
  expect(queue.appeals).toBe(1)
  await decide(app, moderator, { postId: appealed, verdict: 'remove' })
  expect((await app.read('/moderation/queue', moderator)).appeals).toBe(0)
})

test('a removed post is gone from every screen at once, its replies stay, its text stands in the journal, and it can be restored with id, likes and replies', async () => {
  const postId = await publishReported()
  const reply = await app.reply(reader, postId)
  await like(app, reader, postId)
  const liked = async () => (await app.read('/posts?filter=liked', reader)).posts
  const before = (await read(postId)).body
  const decision = { postId, verdict: 'remove', note: 'Третий раз' } as const
  expect((await decide(app, moderator, decision)).status).toBe(204)
  expectRefusal(await read(postId), 'POST_NOT_FOUND')
  const { actions } = (await read(reply.id)).body
  expect(actions).toMatchObject({ replied_post_id: postId, replied_post: null })
  expect(await liked()).toEqual([])
  expect(await isWaiting(postId)).toBe(false)
  expect(await readJournal(app.db, { postId })).toMatchObject([
    {
      actor: moderator.email,
      action: 'post.remove',
      user_id: author.id,
      reason: 'Спам или реклама',
      details: { text: 'Купите гараж', note: 'Третий раз' },
    },
  ])
  await restore(app, postId)
  expect((await read(postId)).body).toEqual(before)
  expect(await liked()).toMatchObject([{ id: postId, actions: { is_liked: true } }])
})

test('a reason or a note with control characters is INVALID_REQUEST', async () => {
  const postId = await publishReported()
  const wrong = [{ reason: 'Спам\0' }, { note: '\0' }, { block: { days: 1 }, reason: '\b' }]
  for (const words of wrong) {
    const answer = await decide(app, moderator, { postId, verdict: 'remove', ...words })
    expectRefusal(answer, 'INVALID_REQUEST')
  }
  expect((await read(postId)).status).toBe(200)
})

test.each(['was kept', 'was restored by the operator'])(
  'further reports of a text that %s change nothing, and those of another text do',
  async (what) => {
    const postId = await publishReported()
    await decideOn(postId, what === 'was kept' ? 'keep' : 'remove')
    if (what !== 'was kept') await restore(app, postId)
    expect((await read(postId)).status).toBe(200)
    for (const reasonId of ['1', '2']) {
      expect((await report(app, reader, { postId, reasonId })).status).toBe(204)
    }
    expect(await isWaiting(postId)).toBe(false)
    await edit(postId, 'Купите два гаража')
    await report(app, reader, { postId })
    expect(await isWaiting(postId)).toBe(true)
  },
)

test('a reported post that its author deletes stays as evidence and can be decided about', async () => {
  const postId = await publishReported('Улика')
  await like(app, reader, postId)
  await app.call('DELETE', `/posts/${postId}`, { token: author.token })
  expect(await queuedOf(postId)).toMatchObject({ text: 'Улика', state: 'deleted' })
  const stored = await app.sql`SELECT text, hidden_for, likes_count FROM posts WHERE id = ${postId}`
  expect(stored).toEqual([{ text: 'Улика', hidden_for: 'deleted', likes_count: 1 }])
  await decideOn(postId, 'keep')
  expectRefusal(await read(postId), 'POST_NOT_FOUND')
  expect(await isWaiting(postId)).toBe(false)
})

test.each([
  ['was removed stays away', { verdict: 'remove', reason: 'Прощание.' }, 404],
  ['was kept is back', { verdict: 'keep' }, 200],
] as const)(
  'a reported post whose author has left can be decided about; one that %s when the author returns',
  async (_which, decision, expected) => {
    const leaver = await app.signUp()
    const other = await app.publish(leaver)
    const postId = await publishReported('Прощайте', leaver)
    await leave(app, leaver)
    await expect.poll(() => areTransitionsDone(app)).toBe(true)
    expect(await queuedOf(postId)).toMatchObject({ state: 'deleted' })
    expect((await decide(app, moderator, { postId, ...decision })).status).toBe(204)
    expect(await isWaiting(postId)).toBe(false)
    if (expected === 404) {
      const { text } = await mailbox.mailAbout(leaver.email, /^Ваша запись удалена/)
      expect(text).toContain('Прощайте')
      // The reason has its own full stop.
      expect(text).toContain('Причина: Прощание.\n')
    }
    await comeBack(app, leaver.email, true)
    await expect.poll(() => areTransitionsDone(app)).toBe(true)
    await expect.poll(async () => (await read(other.id)).status).toBe(200)
    expect((await read(postId)).status).toBe(expected)
  },
)

test('a moderator can remove a post without a report, if they ask for that, but not their own', async () => {
  const { id } = await app.publish(author, 'Никто не пожаловался')
  const seen = (postId: string) =>
    app.call('GET', `/moderation/posts/${postId}`, { token: moderator.token })
  expect((await seen(id)).body).toMatchObject({ id, state: 'published', reporters: 0 })
  for (const postId of [id, '999999', 'abc', '9'.repeat(30)]) {
    expectRefusal(await decideOn(postId, 'remove'), 'POST_NOT_FOUND')
  }
  expect((await read(id)).status).toBe(200)
  const remove = { verdict: 'remove', reason: 'Спам', unreported: true } as const
  expect((await decide(app, moderator, { postId: id, ...remove })).status).toBe(204)
  expect(await readJournal(app.db, { postId: id })).toMatchObject([
    { action: 'post.remove', reason: 'Спам' },
  ])
  expectRefusal(await read(id), 'POST_NOT_FOUND')
  for (const postId of [id, 'abc']) {
    expectRefusal(await seen(postId), 'POST_NOT_FOUND')
    for (const verdict of ['remove', 'keep'] as const) {
      const again = { ...remove, postId, verdict }
      expectRefusal(await decide(app, moderator, again), 'POST_NOT_FOUND')
    }
  }
  const ofSameMailbox = await app.signIn(moderator.email.replace('@', '+2@'))
  for (const author of [moderator, ofSameMailbox]) {
    const own = await app.publish(author)
    expectRefusal(await decide(app, moderator, { postId: own.id, ...remove }), 'OWN_POST')
  }
})
