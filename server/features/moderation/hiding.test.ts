import { beforeEach, expect, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
import {
  decide,
  passReportTime,
  readQueue,
  report,
  signUpModerator,
  signUpOld,
} from '../../testing/calls/moderation-calls.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'

const app = await appForFile({ config: { trustProxy: ['127.0.0.1'] } })
const moderator = await signUpModerator(app)
const author = await app.signUp()
const [first, second, third] = (await signUpOld(app, 3)) as [TestUser, TestUser, TestUser]
/** Undecided reports of one account hide three posts at most. */
beforeEach(() => app.db.deleteFrom('reports').execute())

// Signed in: what a visitor of another node sees may be some milliseconds old.
const read = async (id: string) =>
  (await app.call('GET', `/posts/${id}`, { token: moderator.token })).status
const removedPosts = async () => (await app.read('/users/current/removed-posts', author)).posts

/** Publishes a post that all of these report. Returns its id. */
async function publishReported(reporters: TestUser[]): Promise<string> {
  const { id: postId } = await app.publish(author)
  for (const user of reporters) expect((await report(app, user, { postId })).status).toBe(204)
  return postId
}

/** Whether the reports of all of these hide a post. */
const hide = async (reporters: TestUser[]) => (await read(await publishReported(reporters))) === 404

test('the third account that reports a post hides it until a moderator keeps or removes it', async () => {
  const postId = await publishReported([first, second])
  await report(app, first, { postId, reasonId: '2' })
  expect(await read(postId)).toBe(200)
  expect((await report(app, third, { postId })).status).toBe(204)
  expect(await read(postId)).toBe(404)
  expectRefusal(await report(app, first, { postId }), 'POST_NOT_FOUND')
  expect(await readQueue(app, moderator)).toMatchObject([
    { id: postId, state: 'hidden', reporters: 3 },
  ])
  expect(await readJournal(app.db, { postId })).toMatchObject([
    { actor: 'vslukh', action: 'post.hide', user_id: author.id, details: { reporters: 3 } },
  ])
  // Its author sees it as hidden, which is not removed: there is nothing to appeal against yet.
  expect(await removedPosts()).toMatchObject([{ id: postId, state: 'hidden', reason: '' }])
  const appeal = { token: author.token, body: { text: 'За что?' } }
  const path = `/users/current/removed-posts/${postId}/appeal`
  expectRefusal(await app.call('POST', path, appeal), 'POST_NOT_FOUND')

  await decide(app, moderator, { postId, verdict: 'keep' })
  expect(await read(postId)).toBe(200)
  const other = await publishReported([first, second, third])
  await decide(app, moderator, { postId: other, verdict: 'remove', reason: 'Травля' })
  expect(await removedPosts()).toMatchObject([{ id: other, state: 'removed', reason: 'Травля' }])
})

test('accounts that are younger than a day hide nothing', async () => {
  const young = await Promise.all([app.signUp(), app.signUp(), app.signUp()])
  expect(await hide([...young, first, second])).toBe(false)
})

test('an account with more than three refused reports in a month hides nothing until they are older, and what it has hidden comes back', async () => {
  const [liar, ...others] = (await signUpOld(app, 4)) as [TestUser, ...TestUser[]]
  const doubtful = await publishReported([liar, ...others.slice(0, 2)])
  const certain = await publishReported(others)
  for (let refused = 0; refused < 4; refused++) {
    expect(await read(doubtful)).toBe(404)
    const postId = await publishReported([liar])
    await decide(app, moderator, { postId, verdict: 'keep' })
  }
  await expect.poll(() => read(doubtful)).toBe(200)
  expect(await read(certain)).toBe(404)
  expect(await readQueue(app, moderator)).toMatchObject([
    { id: doubtful, state: 'published' },
    { id: certain, state: 'hidden' },
  ])
  expect(await readJournal(app.db, { postId: doubtful })).toMatchObject([
    { actor: 'vslukh', action: 'post.unhide', details: { reporters: 2 } },
    { action: 'post.hide' },
  ])
  expect(await hide([liar, ...others.slice(0, 2)])).toBe(false)
  await passReportTime(app, 31 * 86_400)
  expect(await hide([liar, ...others.slice(0, 2)])).toBe(true)
})

const many = (emailOf: (at: number) => string) => Array.from({ length: 10 }, (_, at) => emailOf(at))

test.each([
  ['of one mailbox, from many networks', many((at) => `liar+${at}@example.org`), '198.51.100.'],
  [
    'of one mailbox that Google spells in many ways',
    ['l.iar@gmail.com', 'liar@gmail.com', 'li.ar+x@googlemail.com'],
    '192.0.2.',
  ],
  ['registered from one network', many((at) => `other-${at}@example.org`), '2001:db8:7:1::'],
])('accounts %s count as one reporter', async (_which, emails, addresses) => {
  const liars: TestUser[] = []
  for (const [at, email] of emails.entries()) {
    liars.push(await app.signIn(email, undefined, { 'x-forwarded-for': `${addresses}${at}` }))
  }
  await app.sql`UPDATE users SET created_at = created_at - interval '2 days'`
  expect(await hide(liars)).toBe(false)
  expect(await hide([...liars.slice(0, 1), first, second])).toBe(true)
})

test('the undecided reports of one account hide three posts at most, and a decision frees one', async () => {
  const [liar, ...others] = (await signUpOld(app, 9)) as [TestUser, ...TestUser[]]
  const withPair = (at: number) => [liar, ...others.slice(2 * at, 2 * at + 2)]
  for (const at of [0, 1, 2]) expect(await hide(withPair(at))).toBe(true)
  expect(await hide(withPair(3))).toBe(false)
  const [oldest] = await readQueue(app, moderator)
  await decide(app, moderator, { postId: oldest?.id ?? '', verdict: 'remove' })
  expect(await hide(withPair(3))).toBe(true)
})

test('REPORTS_TO_HIDE=0 hides nothing', async () => {
  const own = await appForTest({ databaseUrl: app.databaseUrl, config: { reportsToHide: 0 } })
  const postId = await publishReported([first, second])
  await report(own, third, { postId })
  expect(await read(postId)).toBe(200)
})
