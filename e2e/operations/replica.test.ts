import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../server/kernel/db/database.ts'
import { PAST_CACHE, type TestUser } from '../../server/testing/client.ts'
import { type Node, startNode } from '../nodes/pair.ts'
import { changeAndRead, rolesIn, type Stale } from '../nodes/stale-reads.ts'
import { type Standby, startPrimary, startStandby } from './standby.ts'

/** PostgreSQL counts what a connection has read by then. */
const STATISTICS_MS = 11_000
/** A standby that is further behind is not read. */
const LAG_MAX_MS = 1000

let standby: Standby
let onStandby: OpenDatabase
let nodes: [Node, Node]
const started = new AsyncDisposableStack()
beforeAll(async () => {
  const primary = await startPrimary()
  started.defer(primary.close)
  standby = await startStandby(primary)
  started.defer(standby.close)
  onStandby = openDatabase(standby.url, () => {})
  started.defer(onStandby.close)
  const env = {
    DATABASE_URL: primary.url,
    DATABASE_REPLICA_URL: standby.url,
    ACCESS_TOKEN_SECONDS: '3600',
  }
  nodes = [await startNode(started, env), await startNode(started, env)]
})
afterAll(() => started.disposeAsync())

/**
 * Publishes, edits and deletes on each node in turn, `rounds` times; returns what users and
 * visitors saw too late.
 */
async function changeInTurn(rounds: number): Promise<{ users: Stale[]; visitorsMs: number }> {
  const user = await nodes[0].direct.signUp()
  const users: Stale[] = []
  let visitorsMs = 0
  for (let round = 0; round < rounds; round++) {
    const { writer, other } = rolesIn({ nodes }, round)
    const { token } = user
    const readers = [
      { node: other, token, headers: PAST_CACHE },
      { node: writer, token },
      { node: writer },
    ]
    users.push(...(await changeAndRead({ writer, user, readers }, round)))
    const late = await changeAndRead({ writer, user, readers: [{ node: other }] }, round)
    visitorsMs = Math.max(visitorsMs, ...late.map(({ since }) => since))
    // Meanwhile visitors read from the standby.
    if (round % 4 === 0) await delay(2500)
  }
  return { users, visitorsMs }
}

/**
 * Resolves once a visitor's reads come from the standby: by PostgreSQL's own count it reads rows of
 * posts by an index.
 */
async function untilRead(author: TestUser, postId: string): Promise<void> {
  const before = await rowsRead()
  await expect
    .poll(() => readMany(author, postId).then(rowsRead), { timeout: 30_000 })
    .toBeGreaterThan(before + 20)
}

/**
 * Reads lists that no cached response shows, as a visitor or a user, each after a commit: a standby
 * shows by it that it keeps up.
 */
async function readMany(author: TestUser, postId: string, token?: string): Promise<void> {
  const [{ direct }] = nodes
  for (let limit = 1; limit <= 20; limit++) {
    const method = limit % 2 === 0 ? 'DELETE' : 'POST'
    await direct.call(method, `/posts/${postId}/likes`, { token: author.token })
    await direct.call('GET', `/posts?limit=${limit}`, { token })
  }
}

async function rowsRead(): Promise<number> {
  const { rows } = await sql<{ count: string }>`SELECT idx_tup_fetch AS count
    FROM pg_stat_user_tables WHERE relname = 'posts'`.execute(onStandby.db)
  return Number(rows[0]?.count)
}

test('with a standby an author, and visitors of the same node, see every change at once, and visitors of another within a second', {
  timeout: 180_000,
}, async () => {
  const { users, visitorsMs } = await changeInTurn(20)
  expect(users).toEqual([])
  expect(visitorsMs).toBeLessThanOrEqual(1000)
})

test('visitors’ reads come from the standby, users’ from the primary; from a standby that lags nobody reads, nor from one that is gone', {
  timeout: 180_000,
}, async () => {
  const [{ direct }] = nodes
  const [olga, petr] = [await direct.signUp(), await direct.signUp()]
  const { id } = await direct.publish(olga)
  await untilRead(olga, id)

  await delay(STATISTICS_MS)
  const before = await rowsRead()
  await readMany(olga, id, petr.token)
  await standby.pause()
  await delay(LAG_MAX_MS)
  await readMany(olga, id)
  await delay(STATISTICS_MS)
  expect(await rowsRead()).toBe(before)

  await standby.resume()
  await untilRead(olga, id)
  await standby.stop()
  for (let limit = 21; limit <= 40; limit++) {
    const { status, body } = await direct.call('GET', `/posts?limit=${limit}`)
    expect([status, body.posts[0].id]).toEqual([200, id])
  }
})
