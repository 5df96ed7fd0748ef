import { expect, test } from 'vitest'
import { leave } from '../../testing/calls/account-deletion-calls.ts'
import { startAt, verifyAt } from '../../testing/calls/sign-in-calls.ts'
import { appForTest } from '../../testing/test-app.ts'
import { appendToJournal, readJournal } from './journal.ts'

test('an act can be found by its user, its post and its time, and can be neither changed nor removed', async () => {
  const { db, sql } = await appForTest()
  const act = { actor: 'olga', action: 'post.remove', userId: '7', postId: '12', reason: 'Спам' }
  const id = await appendToJournal(db, { ...act, details: { text: 'Купите' } })
  await appendToJournal(db, { actor: 'petr', action: 'recount' })
  const expected = [{ id, actor: 'olga', reason: 'Спам', details: { text: 'Купите' } }]
  expect(await readJournal(db, { userId: '7' })).toMatchObject(expected)
  expect(await readJournal(db, { postId: '12' })).toMatchObject(expected)
  expect(await readJournal(db, { sinceSeconds: 60 })).toMatchObject([{ actor: 'petr' }, { id }])
  expect(await readJournal(db, { sinceSeconds: 0 })).toEqual([])
  await expect(sql`UPDATE journal SET actor = 'ivan'`).rejects.toThrow(/append-only/)
  await expect(sql`DELETE FROM journal`).rejects.toThrow(/append-only/)
})

test('an act whose row of the access journal fails is undone: no post, no session, no spent code, no deletion', async () => {
  const app = await appForTest({ config: { accessJournalDays: 365 } })
  const { db } = app
  const olga = await app.signUp()
  const { token } = olga
  const post = await app.publish(olga)
  const { id } = (await startAt(app, '/logins', { email: olga.email })).body
  const signIn = () => verifyAt(app, '/logins', { id })
  const publish = () => app.call('POST', '/posts', { token, body: { text: 'Эй' } })
  const publishAtOnce = () => Promise.all(Array.from({ length: 5 }, publish))
  await app.sql`ALTER TABLE access_journal RENAME TO away`
  const refused = [
    ...(await publishAtOnce()),
    await app.call('DELETE', `/posts/${post.id}`, { token }),
    await leave(app, olga),
    await signIn(),
  ]
  for (const { status, cookie } of refused) expect([status, cookie]).toEqual([500, undefined])
  expect((await app.call('GET', '/posts')).body.posts).toMatchObject([{ id: post.id }])
  expect((await app.call('GET', '/sessions', { token })).body.sessions).toHaveLength(1)

  await app.sql`ALTER TABLE away RENAME TO access_journal`
  expect((await signIn()).status).toBe(200)
  const published = (await publishAtOnce()).map(({ body }) => body.id)
  await app.call('DELETE', `/posts/${post.id}`, { token })
  expect((await leave(app, olga)).status).toBe(200)
  const rows = db.selectFrom('access_journal').where('user_id', '=', olga.id).orderBy('id')
  const recorded = await rows.select(['action', 'post_id']).execute()
  const acts = ['register', 'publish', 'sign-in', ...published.map(() => 'publish')]
  expect(recorded.map(({ action }) => action)).toEqual([...acts, 'delete-post', 'delete-account'])
  const ids = recorded.flatMap(({ post_id }) => post_id ?? [])
  expect(ids.toSorted()).toEqual([post.id, ...published, post.id].toSorted())
})
