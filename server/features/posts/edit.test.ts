import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { readConfig } from '../../kernel/config/config.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { lockEdited, updateText } from './posts.repository.ts'

const app = await appForFile()
const olga = await app.signUp()

const edit = ({ id }: Post, text: string, { token } = olga, to = app) =>
  to.call('PATCH', `/posts/${id}`, { token, body: { text } })

const age = ({ id }: Post, seconds: number, db: Queryable = app.db) =>
  sql`UPDATE posts SET created_at = now() - ${seconds} * interval '1 second'
    WHERE id = ${id}`.execute(db)

test('an edit changes the text of a post or reply, marks it as modified and changes nothing else', async () => {
  const reply = await app.reply(olga, (await app.publish(olga)).id)
  for (const post of [await app.publish(olga), reply]) {
    expect(post.is_modified).toBe(false)
    const { body } = await edit(post, '  Теперь иначе ')
    const { modified_at } = body
    expect(body).toEqual({ ...post, text: 'Теперь иначе', is_modified: true, modified_at })
    expect(Math.abs(Date.now() / 1000 - modified_at)).toBeLessThan(60)
    expect(await app.read(`/posts/${post.id}`)).toEqual(body)
  }
})

test('a post can be edited 9:59 after publishing, and not 10:01 after it, unless EDIT_PERIOD_SECONDS says otherwise', async () => {
  const post = await app.publish(olga)
  const { databaseUrl } = app
  const brief = await appForTest({ databaseUrl, config: { editPeriodSeconds: 60 } })
  await age(post, 61)
  expectRefusal(await edit(post, 'Опоздала', olga, brief), 'EDIT_PERIOD_EXPIRED')
  await age(post, 540)
  expect((await edit(post, 'Успела')).status).toBe(200)
  // In a transaction, now() stands still.
  await app.db.transaction().execute(async (db) => {
    const { editPeriodSeconds: periodSeconds } = readConfig({})
    const last = { id: post.id, ownerId: olga.id, text: 'Ещё успела', periodSeconds }
    await age(post, 599, db)
    expect(await lockEdited(db, last)).toEqual({ is_late: false, is_same: false })
    await updateText(db, last)
  })
  await age(post, 601)
  expectRefusal(await edit(post, 'Опоздала'), 'EDIT_PERIOD_EXPIRED')
  expect((await app.read(`/posts/${post.id}`)).text).toBe('Ещё успела')
  expectRefusal(await edit(post, 'Чужое', await app.signUp()), 'POST_NOT_FOUND')
})

test('an edit to the same text, however it is spaced or composed, is INVALID_REQUEST and marks nothing', async () => {
  const post = await app.publish(olga, 'Мой край')
  for (const same of ['Мой край', ' Мой край\n', 'Мой край'.normalize('NFD')]) {
    expectRefusal(await edit(post, same), 'INVALID_REQUEST')
  }
  expect((await app.read(`/posts/${post.id}`)).is_modified).toBe(false)
})

test('a deleted post is gone at once, and an id that no post has is POST_NOT_FOUND: reading, editing, liking, deleting, reporting and replying', async () => {
  const post = await app.publish(olga)
  const { token } = olga
  expect((await app.call('DELETE', `/posts/${post.id}`, { token })).status).toBe(204)
  const body = { text: 'Поздно' }
  for (const [method, path, sent] of [
    ['GET', '', undefined],
    ['PATCH', '', body],
    ['DELETE', '', undefined],
    ['POST', '/likes', undefined],
    ['DELETE', '/likes', undefined],
    ['GET', '/replies', undefined],
    ['GET', '/replies?page=900', undefined],
    ['GET', '/ancestors', undefined],
    ['POST', '/replies', body],
    ['POST', '/reports?reason_id=1', undefined],
  ] as const) {
    for (const id of [post.id, '999999999', 'abc', '0']) {
      const answer = await app.call(method, `/posts/${id}${path}`, { token, body: sent })
      expectRefusal(answer, 'POST_NOT_FOUND')
    }
  }
  for (const id of ['-1', '01', '1.5', '9223372036854775808', "1' OR 1=1"]) {
    expectRefusal(await app.call('GET', `/posts/${id}`), 'POST_NOT_FOUND')
  }
})
