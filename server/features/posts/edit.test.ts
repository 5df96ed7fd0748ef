import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { readConfig } from '../../kernel/config/config.ts'
import type { Queryable } from '../../kernel/db/database.ts'
import { expectRefusal } from '../../testing/expect-refusal.ts'
import { appForFile, appForTest } from '../../testing/test-app.ts'
import { updateText } from './posts.repository.ts'

const app = await appForFile()
const olga = await app.signUp()

const edit = (post: Post, text: string, { token } = olga, to = app) =>
  to.call('PATCH', `/posts/${post.id}`, { token, body: { text } })

async function passTime(db: Queryable, post: Post, seconds: number): Promise<void> {
  await sql`UPDATE posts SET created_at = now() - ${seconds} * interval '1 second'
    WHERE id = ${post.id}`.execute(db)
}

test('an edit changes the text of a post or reply, marks it as modified and changes nothing else', async () => {
  const reply = await app.reply(olga, (await app.publish(olga)).id)
  for (const post of [await app.publish(olga), reply]) {
    expect(post.is_modified).toBe(false)
    const { status, body } = await edit(post, '  Теперь иначе ')
    expect(status).toBe(200)
    const { modified_at } = body
    expect(body).toEqual({ ...post, text: 'Теперь иначе', is_modified: true, modified_at })
    expect(Math.abs(Date.now() / 1000 - modified_at)).toBeLessThan(60)
    expect((await app.call('GET', `/posts/${post.id}`)).body).toEqual(body)
  }
})

test('a post can be edited 9:59 after publishing, and not 10:01 after it', async () => {
  const post = await app.publish(olga)
  await passTime(app.db, post, 540)
  expect((await edit(post, 'Успела')).status).toBe(200)
  // In a transaction, now() stands still.
  await app.db.transaction().execute(async (db) => {
    const { editPeriodSeconds: periodSeconds } = readConfig({})
    const last = { id: post.id, ownerId: olga.id, text: 'Ещё успела', periodSeconds }
    await passTime(db, post, 599)
    expect(await updateText(db, last)).toBe(true)
  })
  await passTime(app.db, post, 601)
  expectRefusal(await edit(post, 'Опоздала'), 'EDIT_PERIOD_EXPIRED')
  expect((await app.call('GET', `/posts/${post.id}`)).body.text).toBe('Ещё успела')
})

test('EDIT_PERIOD_SECONDS sets another edit period', async () => {
  const brief = await appForTest({ config: { editPeriodSeconds: 60 } })
  const petr = await brief.signUp()
  const post = await brief.publish(petr)
  await passTime(brief.db, post, 30)
  expect((await edit(post, 'Успел', petr, brief)).status).toBe(200)
  await passTime(brief.db, post, 61)
  expectRefusal(await edit(post, 'Опоздал', petr, brief), 'EDIT_PERIOD_EXPIRED')
})

test('an edit to the same text, however it is spaced or composed, is INVALID_REQUEST and marks nothing', async () => {
  const post = await app.publish(olga, 'Мой край')
  for (const same of ['Мой край', ' Мой край\n', 'Мой край'.normalize('NFD')]) {
    expectRefusal(await edit(post, same), 'INVALID_REQUEST')
  }
  expect((await app.call('GET', `/posts/${post.id}`)).body.is_modified).toBe(false)
})

test('a deleted post is gone at once: reading, editing, liking, deleting, reporting and replying to it return 404', async () => {
  const post = await app.publish(olga)
  const { token } = olga
  expect((await app.call('DELETE', `/posts/${post.id}`, { token })).status).toBe(204)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/likes'],
    ['DELETE', '/likes'],
    ['GET', '/replies'],
    ['POST', '/reports?reason_id=1'],
  ] as const) {
    expectRefusal(await app.call(method, `/posts/${post.id}${path}`, { token }), 'POST_NOT_FOUND')
  }
  expectRefusal(await edit(post, 'Поздно'), 'POST_NOT_FOUND')
  const reply = { token, body: { text: 'Поздно' } }
  expectRefusal(await app.call('POST', `/posts/${post.id}/replies`, reply), 'POST_NOT_FOUND')
})

test('a post of somebody else that is too old to be edited is not found either', async () => {
  const post = await app.publish(olga)
  await passTime(app.db, post, 601)
  expectRefusal(await edit(post, 'Чужое', await app.signUp()), 'POST_NOT_FOUND')
})

test.each(['0', '-1', '01', '1.5', 'abc', '9223372036854775808', "1' OR 1=1"])(
  'an id that no post has, %s, is POST_NOT_FOUND and never an error',
  async (id) => {
    expectRefusal(await app.call('GET', `/posts/${id}`), 'POST_NOT_FOUND')
  },
)
