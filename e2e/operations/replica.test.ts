import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../server/db/database.ts'
import { type Standby, startPrimary, startStandby } from '../../server/testing/standby.ts'
import { type Node, startNode } from '../nodes/pair.ts'
import { changeAndRead, newestText, rolesIn, type Stale } from '../nodes/stale-reads.ts'

const FROM_STANDBYS = 'posts are read from standbys'
const FROM_PRIMARY = 'posts are read from the primary'
const ROUNDS = 50

let standby: Standby
let nodes: [Node, Node]
const started = new AsyncDisposableStack()
beforeAll(async () => {
  const primary = await startPrimary()
  started.defer(primary.close)
  standby = await startStandby(primary)
  started.defer(standby.close)
  const env = {
    DATABASE_URL: primary.url,
    DATABASE_REPLICA_URL: standby.url,
    ACCESS_TOKEN_SECONDS: '3600',
  }
  nodes = [await startNode(started, env), await startNode(started, env)]
})
afterAll(() => started.disposeAsync())

/** Waits until the last line of both nodes about where posts are read from has these words. */
async function logged(words: string): Promise<void> {
  const last = ({ product }: Node) =>
    product.lines.findLast((line) => line.includes('posts are read'))
  await expect.poll(() => nodes.every((node) => last(node)?.includes(words))).toBe(true)
}

/** Publishes, edits and deletes on each node in turn, `rounds` times; returns what users and visitors saw too late. */
async function changeInTurn(rounds: number): Promise<{ users: Stale[]; visitorsMs: number }> {
  const user = await nodes[0].direct.signUp()
  const users: Stale[] = []
  let visitorsMs = 0
  for (let round = 0; round < rounds; round++) {
    const { writer, other } = rolesIn({ nodes }, round)
    const { token } = user
    const readers = [
      { node: other, token },
      { node: writer, token },
    ]
    users.push(...(await changeAndRead({ writer, user, readers }, round)))
    const late = await changeAndRead({ writer, user, readers: [{ node: other }] }, round)
    visitorsMs = Math.max(visitorsMs, ...late.map(({ since }) => since))
  }
  return { users, visitorsMs }
}

test('with a standby users see every change at once on every node, visitors within a second', {
  timeout: 180_000,
}, async () => {
  await logged(FROM_STANDBYS)
  const { users, visitorsMs } = await changeInTurn(ROUNDS)
  expect(users).toEqual([])
  expect(visitorsMs).toBeLessThanOrEqual(1000)
})

test('posts, lists and likes are read from the standby', async () => {
  const { db, close } = openDatabase(standby.url, () => {})
  started.defer(close)
  const [{ direct }] = nodes
  const olga = await direct.signUp()
  const post = await direct.publish(olga)
  const { token } = olga
  await direct.call('POST', `/posts/${post.id}/likes`, { token })
  const before = await tuplesRead()
  for (let n = 0; n < 20; n++) {
    const { body } = await direct.call('GET', '/posts', { token })
    expect(body.posts[0]).toMatchObject({ id: post.id, actions: { is_liked: true } })
    // No cached response is young enough for the next reader.
    await direct.call('POST', `/posts/${post.id}/likes`, { token: (await direct.signUp()).token })
  }
  await expect.poll(async () => (await tuplesRead()) - before).toBeGreaterThanOrEqual(20)

  /** How many rows of posts the standby has read by an index. */
  async function tuplesRead(): Promise<number> {
    const { rows } = await sql<{ count: string }>`
      SELECT idx_tup_fetch AS count FROM pg_stat_user_tables WHERE relname = 'posts'`.execute(db)
    return Number(rows[0]?.count)
  }
})

test('a standby that lags is not read: nobody sees an older state, on any node; once it has caught up it is read again', {
  timeout: 120_000,
}, async () => {
  const [{ direct }] = nodes
  await standby.pause()
  const { users, visitorsMs } = await changeInTurn(5)
  expect(users).toEqual([])
  expect(visitorsMs).toBeLessThanOrEqual(1000)
  await logged(FROM_PRIMARY)
  const olga = await direct.signUp()
  await direct.publish(olga, 'Пока реплика отстаёт')
  for (const node of nodes)
    expect(await newestText({ node, token: olga.token })).toContain('отстаёт')
  await standby.resume()
  await logged(FROM_STANDBYS)
  for (const node of nodes)
    expect(await newestText({ node, token: olga.token })).toContain('отстаёт')
})

test('without its standby the wall goes on', async () => {
  const [{ direct }] = nodes
  const olga = await direct.signUp()
  await standby.stop()
  for (let n = 0; n < 20; n++) {
    const { id } = await direct.publish(olga, `Без реплики ${n}`)
    for (const node of nodes) {
      const { status, body } = await node.direct.call('GET', `/posts/${id}`, { token: olga.token })
      expect([status, body.id]).toEqual([200, id])
    }
  }
  await logged(FROM_PRIMARY)
})
