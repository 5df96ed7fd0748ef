import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readJournal } from '../../kernel/journal/journal.ts'
import { addJob } from '../../kernel/queue/queue.ts'
import { comeBack, leave, like } from '../../testing/account-deletion-calls.ts'
import { waitsFor } from '../../testing/databases.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { decide, report, signUpModerator } from '../../testing/moderation-calls.ts'
import { privacySection } from '../../testing/privacy-page.ts'
import { findPerson } from '../../testing/search-columns.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { appForTest, type TestApp } from '../../testing/test-app.ts'
import { findCounterDifferences } from '../posts/counters.task.ts'
import { lockPost, showPost } from '../posts/posts.service.ts'
import { addBan } from '../site-state/site-state.service.ts'
import { eraseNow } from './account-deletion.service.ts'

const publishChange = async () => {}
const erasure = { nameKey: Buffer.alloc(32, 7), actor: 'masha', publishChange }

const isThere = async ({ db }: TestApp, id: string) =>
  (await db.selectFrom('users').where('id', '=', id).selectAll().execute()).length === 1

test('an erased moderator leaves nothing but what the page about personal data names', async () => {
  const app = await appForTest({ config: { accessJournalDays: 365 } })
  const olga = await signUpModerator(app)
  const other = await signUpModerator(app)
  const { token } = olga
  const renamed = { token, body: { username: 'olga_the_great' } }
  expect((await app.call('PATCH', '/users/current/profile', renamed)).status).toBe(200)
  const spammer = await app.signUp()
  const spam = await app.publish(spammer, 'Купите гараж')
  await report(app, olga, { postId: spam.id })
  await decide(app, olga, { postId: spam.id, verdict: 'remove', block: { days: 7 } })
  const own = await app.publish(olga, 'Последнее слово Ольги')
  await report(app, other, { postId: own.id })
  await decide(app, other, { postId: own.id, verdict: 'remove' })
  const appeal = { token, body: { text: 'Ольга возражает' } }
  await app.call('POST', `/users/current/removed-posts/${own.id}/appeal`, appeal)
  await app.call('PUT', `/users/${other.id}/mute`, { token })
  await app.call('PUT', `/users/${olga.id}/mute`, { token: other.token })
  const path = `/moderation/users/${olga.id}/block`
  const block = { token: other.token, body: { reason: 'Спорит', days: 1 } }
  expect((await app.call('PUT', path, block)).status).toBe(204)
  const again = await app.signIn(olga.email)
  await startAt(app, '/logins', { email: olga.email })
  await app.call('POST', '/users/current/downloads', { token: again.token })
  await addBan(app.db, {
    kind: 'email',
    value: olga.email,
    coversAll: false,
    seconds: null,
    reason: null,
    actor: 'masha',
  })
  expect((await leave(app, again)).status).toBe(200)

  const words = [
    olga.email,
    olga.username,
    'olga_the_great',
    'Последнее слово Ольги',
    'Ольга возражает',
  ]
  const person = { words, id: olga.id }
  const byEmail = ['posts.hidden_by', 'blocks.blocked_by', 'moderators.email']
  const there = [
    'reports.author_id',
    'mutes.user_id',
    'mutes.muted_id',
    ...byEmail.map((name) => `${name}: ${olga.email}`),
  ]
  expect(await findPerson(app.db, person)).toEqual(expect.arrayContaining(there))
  await sql`UPDATE users SET deleted_at = now() - interval '15 days' WHERE id = ${olga.id}`.execute(
    app.db,
  )
  await addJob(app.db, 'move-accounts', { payload: {} })
  await expect.poll(() => isThere(app, olga.id)).toBe(false)
  const tables = async () =>
    [...new Set((await findPerson(app.db, person)).map((place) => place.split('.')[0]))].sort()
  // The queue keeps a job until it is done.
  await expect.poll(tables).toEqual(['access_journal', 'bans', 'journal'])
  const lines = privacySection('Tables about people').split('\n')
  for (const table of await tables()) {
    const line = lines.find((row) => row.startsWith(`| \`${table}\` |`))
    expect(line, table).toContain('also after an erasure')
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
  const accesses = await sql`SELECT array_agg(action ORDER BY id) AS actions FROM access_journal
    WHERE user_id = ${olga.id}`.execute(app.db)
  const actions = ['register', 'publish', 'sign-in', 'delete-account']
  expect(accesses.rows).toEqual([{ actions }])
})

test('an account whose erasure has begun cannot be returned to, and the server completes an interrupted command', async () => {
  const app = await appForTest()
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(petr, 'О чём говорит стена')
  await app.publish(olga, 'О людях')
  await like(app, olga, post.id)
  const interrupted = () => Promise.reject(new Error('interrupted'))
  const command = eraseNow(app.db, { userId: olga.id, ...erasure, publishChange: interrupted })
  await expect(command).rejects.toThrow('interrupted')
  const back = await comeBack(app, olga.email, true)
  if (await isThere(app, olga.id)) expectRefusal(back, 'OPERATION_EXPIRED')
  await addJob(app.db, 'move-accounts', { payload: {} })
  await expect.poll(() => isThere(app, olga.id)).toBe(false)
  expect(await readJournal(app.db, { userId: olga.id })).toMatchObject([
    { actor: 'masha', action: 'user.erase' },
  ])
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('a reply that is restored while its author is erased is subtracted from every count', async () => {
  const app = await appForTest()
  const moderator = await signUpModerator(app)
  const [olga, petr] = [await app.signUp(), await app.signUp()]
  const post = await app.publish(petr, 'О чём говорит стена')
  const { id: postId } = await app.reply(olga, post.id, 'О людях')
  await report(app, petr, { postId })
  await decide(app, moderator, { postId, verdict: 'remove' })

  const restoring = await app.db.startTransaction().execute()
  const locked = await lockPost(restoring, postId)
  expect(locked && (await showPost(restoring, locked))).toBe(true)
  const command = eraseNow(app.db, { userId: olga.id, ...erasure })
  await expect.poll(() => waitsFor(restoring)).toBeGreaterThan(0)
  await restoring.commit().execute()
  await command
  expect(await isThere(app, olga.id)).toBe(false)
  expect(await findCounterDifferences(app.db)).toEqual([])
  const shown = await app.call('GET', `/posts/${post.id}`, { token: petr.token })
  expect(shown.body).toMatchObject({ actions: { replies_count: 0 } })
})
