import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import type { TestUser } from '../../testing/client.ts'
import {
  decide,
  readQueue,
  report,
  signUpModerator,
  signUpOld,
} from '../../testing/moderation-calls.ts'
import { appForTest, mailAppForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'

const statusOf = async (app: TestApp, id: string) =>
  (await app.call('GET', `/posts/${id}`, { headers: { 'cache-control': 'no-cache' } })).status

/**
 * Registers accounts with these addresses, each from a network of its own or all from one, two days
 * ago.
 */
async function register(
  app: TestApp,
  emails: string[],
  network = '198.51.100.',
): Promise<TestUser[]> {
  const users = []
  for (const [at, email] of emails.entries()) {
    const from = network.endsWith('.') ? `${network}${at + 1}` : network
    users.push(await app.signIn(email, undefined, { 'x-forwarded-for': from }))
  }
  await sql`UPDATE users SET created_at = created_at - interval '2 days'`.execute(app.db)
  return users
}

/** Whether the post of somebody is hidden after all of these have reported it. */
async function hides(app: TestApp, reporters: TestUser[]): Promise<boolean> {
  const { id: postId } = await app.publish(await app.signUp())
  for (const user of reporters) expect((await report(app, user, { postId })).status).toBe(204)
  const { rows } =
    await sql`SELECT FROM posts WHERE id = ${postId} AND hidden_for IS NOT NULL`.execute(app.db)
  return rows.length > 0
}

test('ten accounts of one mailbox count as one reporter, from many networks too', async () => {
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] } })
  const tagged = Array.from({ length: 10 }, (_, at) => `liar+${at}@example.org`)
  const spellings = ['l.iar@gmail.com', 'liar@gmail.com', 'li.ar+x@googlemail.com']
  const liars = [...(await register(app, tagged)), ...(await register(app, spellings, '192.0.2.'))]
  const [other] = (await signUpOld(app, 1)) as [TestUser]
  expect(await hides(app, liars)).toBe(false)
  expect(await hides(app, [...liars.slice(0, 1), ...liars.slice(-1), other])).toBe(true)
})

test('ten accounts that were registered from one network count as one reporter', async () => {
  const app = await appForTest({ config: { trustProxy: ['127.0.0.1'] } })
  const emails = Array.from({ length: 10 }, (_, at) => `other-${at}@example.org`)
  const neighbours = await register(app, emails, '2001:db8:7:1::5')
  expect(await hides(app, neighbours)).toBe(false)
  expect(await hides(app, [...neighbours.slice(0, 1), ...(await signUpOld(app, 2))])).toBe(true)
})

test('accounts whose network is not known, as those registered before, count by their mailbox', async () => {
  const app = await appForTest()
  expect(await hides(app, await signUpOld(app, 3))).toBe(true)
})

test('the undecided reports of one account hide three posts at most, and a decision frees one', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const [liar, ...others] = (await signUpOld(app, 9)) as [TestUser, ...TestUser[]]
  const pairs = [0, 2, 4, 6].map((at) => others.slice(at, at + 2))
  for (const pair of pairs.slice(0, 3)) expect(await hides(app, [liar, ...pair])).toBe(true)
  expect(await hides(app, [liar, ...(pairs[3] ?? [])])).toBe(false)
  const [oldest] = await readQueue(app, moderator)
  await decide(app, moderator, { postId: oldest?.id ?? '', verdict: 'remove' })
  expect(await hides(app, [liar, ...(pairs[3] ?? [])])).toBe(true)
})

test('past ten hidings in an hour posts stay on the wall, and the moderators are mailed so once', async () => {
  const moderatorEmail = 'moderators@example.org'
  const { app, mailbox } = await mailAppForTest({ moderatorEmails: [moderatorEmail] })
  await sql`INSERT INTO journal (actor, action) SELECT 'vslukh', 'post.hide'
    FROM generate_series(1, 9999)`.execute(app.db)
  const users = await signUpOld(app, 3)
  expect(await hides(app, users)).toBe(true)
  expect(await hides(app, users)).toBe(false)
  expect(await hides(app, users)).toBe(false)
  await mailbox.mailAbout(moderatorEmail, /Жалобы больше не скрывают записи/)
  const stops = (await readJournal(app.db, {})).filter(({ action }) => action === 'hiding.stop')
  expect(stops).toHaveLength(1)
})

test('posts come back if they are hidden by reports of an account that has lost the moderators’ trust, and others stay hidden', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const author = await app.signUp()
  const [liar, ...others] = (await signUpOld(app, 4)) as [TestUser, ...TestUser[]]
  const publish = async (reporters: TestUser[]) => {
    const { id: postId } = await app.publish(author)
    for (const user of reporters) await report(app, user, { postId })
    return postId
  }
  const doubtful = await publish([liar, ...others.slice(0, 2)])
  const certain = await publish(others)
  for (let refused = 0; refused < 4; refused++) {
    const postId = await publish([liar])
    await decide(app, moderator, { postId, verdict: 'keep' })
  }
  expect(await statusOf(app, doubtful)).toBe(404)
  await addJob(app.db, 'review-hidden', { payload: {}, key: 'review-hidden' })
  await expect.poll(() => statusOf(app, doubtful)).toBe(200)
  expect(await statusOf(app, certain)).toBe(404)
  const waiting = await readQueue(app, moderator)
  expect(waiting.map(({ id, state }) => [id, state])).toEqual([
    [doubtful, 'published'],
    [certain, 'hidden'],
  ])
  expect(await readJournal(app.db, { postId: doubtful })).toMatchObject([
    { actor: 'vslukh', action: 'post.unhide', details: { reporters: 2 } },
    { action: 'post.hide' },
  ])
  expect(await findCounterDifferences(app.db)).toEqual([])
})
