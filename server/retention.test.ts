import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addJob } from './kernel/queue/queue.ts'
import { decide, report, signUpModerator } from './testing/moderation-calls.ts'
import { startAt } from './testing/sign-in-calls.ts'
import { appForFile, appForTest, type TestApp } from './testing/test-app.ts'

const SOON = { timeout: 15_000 }
const app = await appForFile({ config: { trustProxy: ['127.0.0.1/32'] } })

// The first: sign-ins of the others save mails, and jobs remove limits that are over.
test('saved mails go after a week, and other files stay', async () => {
  const folder = join(app.dataDir, 'mail')
  await mkdir(folder, { recursive: true })
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  for (const [name, days] of [
    ['old.eml', 8],
    ['new.eml', 6],
    ['notes.txt', 30],
  ] as const) {
    await writeFile(join(folder, name), 'x')
    await utimes(join(folder, name), daysAgo(days), daysAgo(days))
  }
  await addJob(app.db, 'remove-old-traces', { payload: {} })
  await expect.poll(() => readdir(folder), SOON).toEqual(['new.eml', 'notes.txt'])
})

test('limits on sign-in are counted under hashes: neither address nor e-mail is in the database', async () => {
  await startAt(app, '/registrations', { email: 'hash@example.org', ip: '192.0.2.55' })
  const { rows } = await sql<{ all: string }>`
    SELECT string_agg(key, ' ') AS all FROM rate_limits`.execute(app.db)
  expect(rows[0]?.all).toContain('code-request')
  expect(rows[0]?.all).not.toMatch(/192\.0\.2|hash@example/)
})

test('clients that have not signed in for 180 days are forgotten, and each sign-in counts', async () => {
  const { db, signUp, signIn } = app
  const [olga, petr] = [await signUp(), await signUp()]
  await sql`UPDATE known_clients SET used_at = now() - interval '181 days'`.execute(db)
  await signIn(petr.email, petr.clientToken)
  await addJob(db, 'remove-expired', { payload: {} })
  const known = async () =>
    (await db.selectFrom('known_clients').select('user_id').execute()).map((row) => row.user_id)
  await expect.poll(known, SOON).toEqual([petr.id])
  expect(olga.id).not.toBe(petr.id)
})

test('addresses are kept only where the operator is ordered to, and for as long', async () => {
  const count = async (app: TestApp) =>
    (await app.db.selectFrom('access_journal').selectAll().orderBy('id').execute()).map(
      ({ action, address, port, post_id }) => ({
        action,
        address,
        hasPort: port !== null,
        post_id,
      }),
    )
  await app.publish(await app.signUp())
  expect(await count(app)).toEqual([])

  const ordered = await appForTest({ config: { accessJournalDays: 30 } })
  const olga = await ordered.signUp()
  const post = await ordered.publish(olga)
  await ordered.call('DELETE', `/posts/${post.id}`, { token: olga.token })
  await ordered.signIn(olga.email)
  const where = { address: '127.0.0.1', hasPort: true }
  expect(await count(ordered)).toEqual([
    { action: 'register', post_id: null, ...where },
    { action: 'publish', post_id: post.id, ...where },
    { action: 'delete-post', post_id: post.id, ...where },
    { action: 'sign-in', post_id: null, ...where },
  ])
  await sql`UPDATE access_journal SET at = now() - interval '31 days' WHERE action <> 'sign-in'`.execute(
    ordered.db,
  )
  await addJob(ordered.db, 'remove-old-traces', { payload: {} })
  await expect
    .poll(async () => (await count(ordered)).map(({ action }) => action), SOON)
    .toEqual(['sign-in'])
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
  await addJob(own.db, 'remove-expired', { payload: {} })
  const jobs = sql`SELECT FROM graphile_worker.jobs WHERE task_identifier = 'remove-expired'`
  await expect.poll(async () => (await jobs.execute(own.db)).rows, SOON).toEqual([])
  expect(await rowsOf('posts')).toMatchObject([{ id: postId }])
  expect(await rowsOf('likes')).toMatchObject([{ post_hidden: true }])
  await sql`UPDATE posts SET hidden_until = hidden_until - interval '31 days'`.execute(own.db)
  await sql`UPDATE reports SET created_at = created_at - interval '181 days'`.execute(own.db)
  await sql`UPDATE blocks SET until = until - interval '2 days'`.execute(own.db)
  await addJob(own.db, 'remove-expired', { payload: {} })
  for (const table of ['posts', 'likes', 'reports', 'blocks'] as const) {
    await expect.poll(() => rowsOf(table), SOON).toEqual([])
  }
})
