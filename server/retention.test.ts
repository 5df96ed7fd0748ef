import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addJob } from './kernel/queue/queue.ts'
import { decide, report, signUpModerator } from './testing/calls/moderation-calls.ts'
import { startAt } from './testing/calls/sign-in-calls.ts'
import { passCodeTime, passSessionTime } from './testing/database/passing-time.ts'
import { appForFile, appForTest, type TestApp } from './testing/test-app.ts'

const app = await appForFile()

// The first: sign-ins of the others save mails.
test('saved mails go after a week, and other files stay', async () => {
  const folder = join(app.dataDir, 'mail')
  await mkdir(folder, { recursive: true })
  for (const [name, days] of Object.entries({ 'old.eml': 8, 'new.eml': 6, 'notes.txt': 30 })) {
    const at = new Date(Date.now() - days * 86_400_000)
    await writeFile(join(folder, name), 'x')
    await utimes(join(folder, name), at, at)
  }
  await addJob(app.db, 'remove-old-traces')
  await expect.poll(() => readdir(folder)).toEqual(['new.eml', 'notes.txt'])
})

test('expired sessions and codes are deleted, and clients that have not signed in for 180 days are forgotten', async () => {
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  await startAt(app, '/registrations', { email: 'vera@example.org' })
  await passCodeTime(app, 11 * 60)
  await passSessionTime(app, 31 * 86_400)
  await app.sql`UPDATE known_clients SET used_at = now() - interval '181 days'`
  // Each sign-in counts.
  await app.signIn(petr.email, petr.clientToken)
  const kept = () => app.sql`SELECT 'session' AS what, user_id FROM sessions
    UNION ALL SELECT 'client', user_id FROM known_clients
    UNION ALL SELECT 'code', NULL FROM codes WHERE email = 'vera@example.org' ORDER BY 1`
  expect(await kept()).toContainEqual({ what: 'client', user_id: olga.id })
  await addJob(app.db, 'remove-expired')
  const { id: user_id } = petr
  const left = ['client', 'session'].map((what) => ({ what, user_id }))
  await expect.poll(kept).toEqual(left)
})

test('addresses are kept only where the operator is ordered to, and for as long', async () => {
  const kept = (by: TestApp) => by.sql`
    SELECT action, address, port IS NOT NULL AS has_port, post_id FROM access_journal ORDER BY id`
  await app.publish(await app.signUp())
  expect(await kept(app)).toEqual([])

  const ordered = await appForTest({ config: { accessJournalDays: 30 } })
  const olga = await ordered.signUp()
  const post = await ordered.publish(olga)
  await ordered.call('DELETE', `/posts/${post.id}`, { token: olga.token })
  await ordered.signIn(olga.email)
  const where = { address: '127.0.0.1', has_port: true }
  const signIn = { action: 'sign-in', post_id: null, ...where }
  expect(await kept(ordered)).toEqual([
    { action: 'register', post_id: null, ...where },
    { action: 'publish', post_id: post.id, ...where },
    { action: 'delete-post', post_id: post.id, ...where },
    signIn,
  ])
  await ordered.sql`UPDATE access_journal SET at = now() - interval '31 days'
    WHERE action <> 'sign-in'`
  await addJob(ordered.db, 'remove-old-traces')
  await expect.poll(() => kept(ordered)).toEqual([signIn])
})

test('expired posts, their likes, old reports and ended blocks are deleted for good', async () => {
  const own = await appForTest()
  const moderator = await signUpModerator(own)
  const { id: postId } = await own.publish(await own.signUp())
  await own.call('POST', `/posts/${postId}/likes`, { token: moderator.token })
  await report(own, moderator, { postId })
  await decide(own, moderator, { postId, verdict: 'remove', block: { days: 1 } })
  const rowsOf = (table: 'posts' | 'likes' | 'reports' | 'blocks') =>
    own.db.selectFrom(table).selectAll().execute()
  await addJob(own.db, 'remove-expired')
  const jobs = () => own.sql`
    SELECT FROM graphile_worker.jobs WHERE task_identifier = 'remove-expired'`
  await expect.poll(jobs).toEqual([])
  expect(await rowsOf('posts')).toMatchObject([{ id: postId }])
  expect(await rowsOf('likes')).toMatchObject([{ post_id: postId }])
  await own.sql`UPDATE posts SET hidden_until = hidden_until - interval '31 days'`
  await own.sql`UPDATE reports SET created_at = created_at - interval '181 days'`
  await own.sql`UPDATE blocks SET until = until - interval '2 days'`
  await addJob(own.db, 'remove-expired')
  for (const table of ['posts', 'likes', 'reports', 'blocks'] as const) {
    await expect.poll(() => rowsOf(table)).toEqual([])
  }
})
