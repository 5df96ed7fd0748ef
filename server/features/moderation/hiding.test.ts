import { beforeEach, expect, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
import { atOnce } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import {
  decide,
  passReportTime,
  readQueue,
  report,
  signUpModerator,
  signUpOld,
} from '../../testing/moderation-calls.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const app = await appForFile()
const moderator = await signUpModerator(app)
const author = await app.signUp()
const reporters = await signUpOld(app, 4)
const [first, second, third] = reporters as [TestUser, TestUser, TestUser]
/** Undecided reports of one account hide three posts at most. */
const forgetReports = () => app.db.deleteFrom('reports').execute()
beforeEach(forgetReports)

// Signed in: what a visitor of another node sees may be some milliseconds old.
const read = async (id: string) =>
  (await app.call('GET', `/posts/${id}`, { token: moderator.token })).status

/** Publishes a post that its reports hide. */
async function hidden() {
  const post = await app.publish(author)
  for (const user of [first, second, third]) await report(app, user, { postId: post.id })
  expect(await read(post.id)).toBe(404)
  return post
}

test('the third account that reports a post hides it until somebody decides', async () => {
  const post = await app.publish(author)
  await report(app, first, { postId: post.id, reasonId: '1' })
  await report(app, first, { postId: post.id, reasonId: '2' })
  await report(app, second, { postId: post.id })
  expect(await read(post.id)).toBe(200)
  expect((await report(app, third, { postId: post.id })).status).toBe(204)
  expect(await read(post.id)).toBe(404)
  expectRefusal(await report(app, first, { postId: post.id }), 'POST_NOT_FOUND')
  const queued = (await readQueue(app, moderator)).find(({ id }) => id === post.id)
  expect(queued).toMatchObject({ state: 'hidden', reporters: 3 })
  expect(await readJournal(app.db, { postId: post.id })).toMatchObject([
    { actor: 'vslukh', action: 'post.hide', user_id: author.id, details: { reporters: 3 } },
  ])
  // Its author sees it as hidden, which is not removed: there is nothing to appeal against yet.
  const { body } = await app.call('GET', '/users/current/removed-posts', { token: author.token })
  expect(body.posts).toMatchObject([{ id: post.id, state: 'hidden', reason: '' }])
  const appeal = `/users/current/removed-posts/${post.id}/appeal`
  const { token } = author
  expectRefusal(
    await app.call('POST', appeal, { token, body: { text: 'За что?' } }),
    'POST_NOT_FOUND',
  )
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('three reports at once hide a post too', async () => {
  for (let round = 0; round < 5; round++) {
    await forgetReports()
    const { id: postId } = await app.publish(author)
    const answers = await atOnce(
      [first, second, third].map((user) => () => report(app, user, { postId })),
    )
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
    expect(await read(postId)).toBe(404)
  }
})

test('a hidden post that is kept comes back, and a removal makes one a removed one', async () => {
  const { id: kept } = await hidden()
  await decide(app, moderator, { postId: kept, verdict: 'keep' })
  expect(await read(kept)).toBe(200)
  const { id: postId } = await hidden()
  await decide(app, moderator, { postId, verdict: 'remove', reason: 'Травля' })
  const own = await app.call('GET', '/users/current/removed-posts', { token: author.token })
  expect(own.body.posts[0]).toMatchObject({ id: postId, state: 'removed', reason: 'Травля' })
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('a decision that meets the report that hides the post is never left half done', async () => {
  for (let round = 0; round < 10; round++) {
    // What was kept before does not count against the reporters.
    await passReportTime(app, 31 * 86_400)
    const { id: postId } = await app.publish(author)
    await report(app, first, { postId })
    await report(app, second, { postId })
    const verdict = round % 2 === 0 ? 'remove' : 'keep'
    await atOnce([
      () => report(app, third, { postId }),
      () => decide(app, moderator, { postId, verdict }),
    ])
    const kept = await app.db
      .selectFrom('posts')
      .select('hidden_for')
      .where('id', '=', postId)
      .execute()
    expect(kept).toEqual([{ hidden_for: verdict === 'remove' ? 'removed' : null }])
    expect(await read(postId)).toBe(verdict === 'remove' ? 404 : 200)
  }
  await passReportTime(app, 31 * 86_400)
})

test('once kept, the same text is never hidden again', async () => {
  const { id: postId } = await hidden()
  await decide(app, moderator, { postId, verdict: 'keep' })
  for (const user of reporters) await report(app, user, { postId, reasonId: '5' })
  expect(await read(postId)).toBe(200)
})

test('accounts that are younger than a day hide nothing', async () => {
  const young = await Promise.all([app.signUp(), app.signUp(), app.signUp()])
  const { id: postId } = await app.publish(author)
  for (const user of [...young, first, second]) await report(app, user, { postId })
  expect(await read(postId)).toBe(200)
})

test('an account with more than three refused reports in a month hides nothing until they are older', async () => {
  const own = await appForTest()
  const judge = await signUpModerator(own)
  const writer = await own.signUp()
  const [grumbler, ...calm] = (await signUpOld(own, 3)) as [TestUser, TestUser, TestUser]
  for (let refused = 0; refused < 4; refused++) {
    const { id: postId } = await own.publish(writer)
    await report(own, grumbler, { postId })
    await decide(own, judge, { postId, verdict: 'keep' })
  }
  const status = async (id: string) =>
    (await own.call('GET', `/posts/${id}`, { token: judge.token })).status
  const reportAll = async () => {
    const { id: postId } = await own.publish(writer)
    for (const user of [grumbler, ...calm]) await report(own, user, { postId })
    return status(postId)
  }
  expect(await reportAll()).toBe(200)
  await passReportTime(own, 31 * 86_400)
  expect(await reportAll()).toBe(404)
})

test('REPORTS_TO_HIDE=0 hides nothing', async () => {
  const own = await appForTest({ config: { reportsToHide: 0 } })
  const users = await signUpOld(own, 4)
  const { id: postId } = await own.publish(await own.signUp())
  for (const user of users) await report(own, user, { postId })
  expect((await own.call('GET', `/posts/${postId}`)).status).toBe(200)
})
