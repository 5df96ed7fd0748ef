import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { lockWaits } from '../../testing/database/databases.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { expectRefusal } from '../../testing/http/expect-refusal.ts'
import { appForFile } from '../../testing/test-app.ts'

const app = await appForFile()
const olga = await app.signUp()

/** Replies with a key, which is another for each reply unless it is given. */
function reply({ token }: TestUser, to: string, key: string = crypto.randomUUID()) {
  const headers = { 'idempotency-key': key }
  return app.call('POST', `/posts/${to}/replies`, { token, headers, body: { text: 'Вместе' } })
}

/** Starts calls while a post is locked. Runs `meanwhile` once all wait, and returns the answers. */
async function whileHeld<Answer>(
  postId: string,
  start: () => Promise<Answer>[],
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<Answer[]> {
  const holder = await app.db.startTransaction().execute()
  await sql`SELECT FROM posts WHERE id = ${postId} FOR UPDATE`.execute(holder)
  const started = start()
  await expect.poll(() => lockWaits(app)).toBe(started.length)
  await meanwhile()
  await holder.commit().execute()
  return Promise.all(started)
}

test('of calls with one Idempotency-Key at the same time the first publishes, and all get its post; another user’s key is another', async () => {
  const { id } = await app.publish(olga)
  const [writer, other] = [await app.signUp(), await app.signUp()]
  const sent = [writer, writer, writer, other]
  const answers = await whileHeld(id, () => sent.map((user) => reply(user, id, 'twice')))
  expect(answers.map(({ status }) => status)).toEqual(sent.map(() => 201))
  const [first, second, third, others] = answers.map(({ body }) => body.id)
  expect([second, third]).toEqual([first, first])
  const { posts } = await app.read(`/posts/${id}/replies`)
  expect(posts.map((post: { id: string }) => post.id).sort()).toEqual([first, others].sort())
})

test('what happens to author or replied post while a reply waits refuses the reply, and its key stays free', async () => {
  const [held, free] = [await app.publish(olga), await app.publish(olga)]
  const [blocked, leaver, writer] = [await app.signUp(), await app.signUp(), await app.signUp()]
  const authors = [blocked, leaver, writer]
  const answers = await whileHeld(
    held.id,
    () => authors.map((author) => reply(author, held.id, 'one')),
    async () => {
      const block = { user_id: blocked.id, reason: 'Спам', until: null, blocked_by: 'test' }
      await app.db.insertInto('blocks').values(block).execute()
      await app.sql`UPDATE users SET deleted_at = now() WHERE id = ${leaver.id}`
    },
  )
  const [ofBlocked, ofLeaver, ofWriter] = answers
  expect([ofBlocked?.body.code, ofLeaver?.body.code]).toEqual(['BLOCKED', 'UNAUTHORIZED'])
  expect(ofWriter?.status).toBe(201)

  const { id } = await app.publish(olga)
  const holder = await app.db.startTransaction().execute()
  await sql`DELETE FROM posts WHERE id = ${id}`.execute(holder)
  const waiting = reply(writer, id, 'second')
  await expect.poll(() => lockWaits(app)).toBe(1)
  await holder.commit().execute()
  expectRefusal(await waiting, 'POST_NOT_FOUND')
  expect((await reply(writer, free.id, 'second')).body.actions.replied_post_id).toBe(free.id)
})
