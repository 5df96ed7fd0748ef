import { Socket } from 'node:net'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { lockWaits } from '../../testing/database/databases.ts'
import type { TestUser } from '../../testing/http/client.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import { appForFile } from '../../testing/test-app.ts'
import { createPublish } from './publications.service.ts'

const app = await appForFile()
const olga = await app.signUp()
/** The post whose lock holds a reply up. */
const held = await app.publish(olga)
const users = await app.signUps(8)
const options = {
  db: app.db,
  limits: limitsInMemory(() => 0, 100_000),
  publishChange: async () => {},
  noteAccess: undefined,
}
const publish = createPublish(options)
/** Publishes likewise, but those that share a statement wait for locks as long as a test needs. */
const publishWaiting = createPublish({ ...options, lockWaitMs: 60_000 })

type Sent = { key?: string; to?: string }

/** Publishes by the service, without a request whose arrival could not be awaited. */
function send({ id }: TestUser, { key, to }: Sent = {}, by = publish): Promise<Post> {
  const request = { ip: '127.0.0.1', socket: new Socket() }
  const viewer = { userId: id, sessionId: '' }
  const body = { text: 'Вместе' }
  return by({ viewer, request, body, idempotencyKey: key, repliedId: to ?? null })
}

const sendWaiting = (user: TestUser, sent: Sent = {}) => send(user, sent, publishWaiting)

/** Locks the held post until the returned function is called, so that replies to it wait. */
async function holdPost(): Promise<() => Promise<unknown>> {
  const holder = await app.db.startTransaction().execute()
  await sql`SELECT FROM posts WHERE id = ${held.id} FOR UPDATE`.execute(holder)
  return () => holder.rollback().execute()
}

/**
 * Has the calls of `sendAll` come while another publication runs, so that they share the next
 * statement; `meanwhile` runs before that. Returns how each of them ended.
 */
async function inOneBatch(
  sendAll: () => Promise<Post>[],
  meanwhile: () => Promise<unknown> = async () => {},
) {
  const release = await holdPost()
  const first = sendWaiting(olga, { to: held.id })
  await expect.poll(() => lockWaits(app)).toBe(1)
  const sent = Promise.allSettled(sendAll())
  await meanwhile()
  await release()
  await first
  return sent
}

const read = async (id: string): Promise<Post> => (await app.call('GET', `/posts/${id}`)).body

test('in a shared statement each bad publication fails alone, others are read as answered, and a retry gets its post', async () => {
  const [blocked, gone] = [await app.signUp(), await app.signUp()]
  const [writer, other] = [await app.signUp(), await app.signUp()]
  const [parent, doomed] = [await app.publish(olga), await app.publish(olga)]
  const before = await send(writer, { key: 'before' })
  const removed = await send(writer, { key: 'removed' })
  await app.call('DELETE', `/posts/${removed.id}`, { token: writer.token })

  const PUBLISHED = 'fulfilled'
  const sent: [user: TestUser, what: Sent, end: string][] = [
    [writer, { to: parent.id }, PUBLISHED],
    [writer, { to: doomed.id }, 'POST_NOT_FOUND'],
    [writer, { to: 'abc' }, 'POST_NOT_FOUND'],
    [writer, { key: 'before' }, PUBLISHED],
    [writer, { key: 'removed' }, 'POST_NOT_FOUND'],
    [writer, { key: 'twice' }, PUBLISHED],
    [writer, { key: 'twice', to: parent.id }, PUBLISHED],
    [other, { key: 'twice' }, PUBLISHED],
    // The first with this key answers a post that is gone, so the key is the second's.
    [other, { key: 'second', to: doomed.id }, PUBLISHED],
    [other, { key: 'second', to: parent.id }, PUBLISHED],
    [blocked, {}, 'BLOCKED'],
    [gone, {}, 'UNAUTHORIZED'],
    [other, {}, PUBLISHED],
  ]
  const results = await inOneBatch(
    () => sent.map(([user, what]) => sendWaiting(user, what)),
    async () => {
      await app.call('DELETE', `/posts/${doomed.id}`, { token: olga.token })
      const block = { user_id: blocked.id, reason: 'Спам', until: null, blocked_by: 'test' }
      await app.db.insertInto('blocks').values(block).execute()
      await app.db.deleteFrom('users').where('id', '=', gone.id).execute()
    },
  )
  const ends = results.map((one) => (one.status === 'rejected' ? one.reason.code : one.status))
  expect(ends).toEqual(sent.map(([, , end]) => end))
  const posts = results.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
  for (const [at, post] of posts.entries()) {
    if (!post) continue
    expect(post.owner.id).toBe(sent[at]?.[0].id)
    expect(await read(post.id)).toEqual(post)
  }
  const ids = posts.map((post) => post?.id)
  expect(ids[3]).toBe(before.id)
  expect(ids[6]).toBe(ids[5])
  expect(ids[7]).not.toBe(ids[5])
  expect(ids[8]).toBe(ids[9])
  expect((await read(parent.id)).actions.replies_count).toBe(2)
})

test('a publication that waits for a lock delays others for a moment only, alone or in their statement', async () => {
  const release = await holdPost()
  const alone = send(olga, { to: held.id })
  // These share the second statement, which does not get the lock in time.
  const together = send(olga, { to: held.id })
  await Promise.all(users.map((user) => send(user)))
  // The replies go on waiting, in statements of their own.
  await expect.poll(() => lockWaits(app)).toBe(2)
  await send(olga)
  await release()
  for (const reply of [await alone, await together]) {
    expect(reply.actions.replied_post?.id).toBe(held.id)
  }
})
