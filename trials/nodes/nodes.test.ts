import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { signUpUsers } from '../../e2e/testing/product.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { PAST_CACHE } from '../../server/testing/http/client.ts'
import { changeAndRead, newestText, type Pair, pairForTest, rolesIn } from './pair.ts'

const USERS = 8

test('a post published, edited, deleted on one node shows at once to its author on every node and to visitors of that one, and to visitors of the other within a second, 200 times', {
  timeout: 360_000,
}, async () => {
  const pair = await pairForTest()
  const olga = await pair.signUp()
  const { token } = olga
  for (let round = 0; round < 200; round++) {
    const { writer, other } = rolesIn(pair, round)
    const atOnce = [
      { node: other, token, headers: PAST_CACHE },
      { node: writer, token },
      { node: writer },
    ]
    expect(await changeAndRead({ writer, user: olga, readers: atOnce }, round)).toEqual([])
    const later = [{ node: other }]
    const stale = await changeAndRead({ writer, user: olga, readers: later }, round)
    expect(Math.max(0, ...stale.map(({ since }) => since))).toBeLessThanOrEqual(1000)
  }
})

test('one node killed with -9 under load: the other goes on, only requests in flight on the dead one fail, nothing acknowledged is lost', async () => {
  const pair = await pairForTest()
  const users = await signUpUsers(pair, USERS)
  const acknowledged = new AcknowledgedWrites()
  const load = simulateUsers({ url: pair.url, users, acknowledged, persistent: true })
  await acknowledged.waitForMore(50)
  const [{ product }] = pair.nodes
  await product.stop('SIGKILL')
  await acknowledged.waitForMore(100)
  await product.start()
  await acknowledged.waitForMore(50)
  await load.stop()

  const failed = load.outcomes.filter(({ status }) => status !== 200 && status !== 201)
  // The balancer may send a user's next call on a connection before it notices that this has ended.
  expect(failed.length).toBeLessThanOrEqual(2 * USERS)
  expect(await acknowledged.findLost(pair.db)).toEqual([])
  expect(await findCounterDifferences(pair.db)).toEqual([])
})

test('the change feed’s connections cut, 20 times: users still see every change at once, visitors within a second', {
  timeout: 120_000,
}, async () => {
  const pair = await pairForTest()
  const olga = await pair.signUp()
  const asUser = { token: olga.token, headers: PAST_CACHE }
  for (let cut = 0; cut < 20; cut++) {
    const { writer, other } = rolesIn(pair, cut >> 1)
    const isUser = cut % 2 === 0
    const reader = { node: other, ...(isUser && asUser) }
    await newestText(reader)
    const before = await listeners(pair)
    expect(before).toHaveLength(2)
    await sql`SELECT pg_terminate_backend(unnest(${before}::int[]))`.execute(pair.db)
    const stale = await changeAndRead({ writer, user: olga, readers: [reader] }, cut)
    expect(Math.max(0, ...stale.map(({ since }) => since))).toBeLessThanOrEqual(isUser ? 0 : 1000)
    await untilReplaced(pair, before)
    const readers = [{ node: other, ...asUser }]
    expect(await changeAndRead({ writer, user: olga, readers }, cut)).toEqual([])
  }
})

test('the change feed’s connection of a node hangs: users still see changes at once, and a new one takes its place', async () => {
  const pair = await pairForTest()
  const olga = await pair.signUp()
  const { writer, other } = rolesIn(pair, 0)
  const readers = [
    { node: other, token: olga.token, headers: PAST_CACHE },
    { node: writer, token: olga.token },
  ]
  const before = await listeners(pair)
  for (const pid of before) process.kill(pid, 'SIGSTOP')
  try {
    expect(await changeAndRead({ writer, user: olga, readers }, 0)).toEqual([])
    await untilReplaced(pair, before)
  } finally {
    for (const pid of before) process.kill(pid, 'SIGCONT')
  }
  expect(await changeAndRead({ writer, user: olga, readers }, 1)).toEqual([])
})

/** The backends of the nodes' change feeds. */
async function listeners({ db }: Pair): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE application_name LIKE 'vslukh change feed%' AND datname = current_database()
    AND state = 'idle' AND query IN ('LISTEN vslukh', 'SELECT')`.execute(db)
  return rows.map(({ pid }) => pid)
}

async function untilReplaced(pair: Pair, before: number[]): Promise<void> {
  await expect
    .poll(async () => (await listeners(pair)).filter((pid) => !before.includes(pid)).length)
    .toBe(2)
}
