import { Socket } from 'node:net'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Post } from '../../../contract/posts.ts'
import { signUps } from '../../testing/at-once.ts'
import type { TestUser } from '../../testing/client.ts'
import { lockWaits } from '../../testing/databases.ts'
import { limitsInMemory } from '../../testing/limits-in-memory.ts'
import { appForFile } from '../../testing/test-app.ts'
import { findCounterDifferences } from './counters.task.ts'
import { createPublish } from './publications.service.ts'

// A statement waits for a lock as long as a test needs.
const app = await appForFile({ poolLimits: { statementTimeoutMs: 60_000 } })
const olga = await app.signUp()
/** The post whose lock holds a reply up. */
const held = await app.publish(olga)
const users = await signUps(app, 8)
const options = {
  db: app.db,
  limits: limitsInMemory(() => 0, 100_000),
  publishChange: async () => {},
  noteAccess: undefined,
}
const publish = createPublish(options)
/** Publishes likewise, but those that share a statement wait for locks as long as a test needs. */
const publishWaiting = createPublish({ ...options, lockWaitMs: 60_000 })

type Sent = { key?: string; to?: string; text?: string }

/** Publishes by the service, without a request whose arrival could not be awaited. */
function send(
  { id }: TestUser,
  { key, to, text = 'Вместе' }: Sent = {},
  by = publish,
): Promise<Post> {
  const request = { ip: '127.0.0.1', socket: new Socket() }
  const viewer = { userId: id, sessionId: '' }
  return by({ viewer, request, text, idempotencyKey: key, repliedId: to ?? null })
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

const codeOf = (result: PromiseSettledResult<Post> | undefined) =>
  result?.status === 'rejected' ? result.reason.code : result?.status
const idOf = (result: PromiseSettledResult<Post> | undefined) =>
  result?.status === 'fulfilled' ? result.value.id : undefined
const read = async (id: string): Promise<Post> => (await app.call('GET', `/posts/${id}`)).body

test('posts and replies that come while others are published are read as answered, with exact counts', async () => {
  const parents = [await app.publish(olga), await app.publish(olga)]
  const results = await inOneBatch(() =>
    users.flatMap((user, n) => [
      sendWaiting(user, { key: `shared-${n}`, text: `На стене ${n}` }),
      sendWaiting(user, { key: `reply-${n}`, to: parents[n % 2]?.id ?? '', text: `Ответ ${n}` }),
    ]),
  )
  const posts = results.map((result) => (result.status === 'fulfilled' ? result.value : null))
  expect(posts).toHaveLength(16)
  for (const [n, post] of posts.entries()) {
    const { id, username } = users[n >> 1] ?? olga
    expect(post).toMatchObject({ owner: { id, username }, is_modified: false })
    expect(post?.text).toBe(`${n % 2 ? 'Ответ' : 'На стене'} ${n >> 1}`)
    expect(await read(post?.id ?? '')).toEqual(post)
    if (n % 2) expect(post?.actions.replied_post?.actions.replies_count).toBe(4)
  }
  expect(await findCounterDifferences(app.db)).toEqual([])
})

test('in a shared statement each bad publication fails alone, and a retry gets its post', async () => {
  const [blocked, gone] = [await app.signUp(), await app.signUp()]
  const [writer, other] = [await app.signUp(), await app.signUp()]
  const parent = await app.publish(olga)
  const doomed = await app.publish(olga)
  const before = await send(writer, { key: 'before' })
  const removed = await send(writer, { key: 'removed' })
  await app.call('DELETE', `/posts/${removed.id}`, { token: writer.token })

  const results = await inOneBatch(
    () => [
      sendWaiting(writer, { to: parent.id }),
      sendWaiting(writer, { to: doomed.id }),
      sendWaiting(writer, { to: 'abc' }),
      sendWaiting(writer, { key: 'before' }),
      sendWaiting(writer, { key: 'removed' }),
      sendWaiting(writer, { key: 'twice' }),
      sendWaiting(writer, { key: 'twice', to: parent.id }),
      sendWaiting(other, { key: 'twice' }),
      // The first with this key answers a post that is gone, so the key is the second's.
      sendWaiting(other, { key: 'second', to: doomed.id }),
      sendWaiting(other, { key: 'second', to: parent.id }),
      sendWaiting(blocked),
      sendWaiting(gone),
      sendWaiting(other),
    ],
    async () => {
      await app.call('DELETE', `/posts/${doomed.id}`, { token: olga.token })
      const block = { user_id: blocked.id, reason: 'Спам', until: null, blocked_by: 'test' }
      await app.db.insertInto('blocks').values(block).execute()
      await app.db.deleteFrom('users').where('id', '=', gone.id).execute()
    },
  )
  expect(results.map(codeOf)).toEqual([
    'fulfilled',
    'POST_NOT_FOUND',
    'POST_NOT_FOUND',
    'fulfilled',
    'POST_NOT_FOUND',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'BLOCKED',
    'UNAUTHORIZED',
    'fulfilled',
  ])
  const ids = results.map(idOf)
  expect(ids[3]).toBe(before.id)
  expect(ids[6]).toBe(ids[5])
  expect(ids[7]).not.toBe(ids[5])
  expect(ids[8]).toBe(ids[9])
  expect((await read(parent.id)).actions.replies_count).toBe(2)
  expect(await findCounterDifferences(app.db)).toEqual([])
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
  expect(await findCounterDifferences(app.db)).toEqual([])
})
