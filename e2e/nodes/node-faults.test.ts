import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findCounterDifferences } from '../../server/posts/posts.jobs.ts'
import { atOnce } from '../../server/testing/at-once.ts'
import { Ledger } from '../testing/ledger.ts'
import { startLoad } from '../testing/load.ts'
import { changeAndRead, newestText, rolesIn, type Stale } from './freshness.ts'
import { type Pair, pairForTest } from './pair.ts'

const USERS = 8

test('one node killed by -9 under load: the other goes on, only what the dead one had at work fails, nothing acknowledged is lost', async ({
  annotate,
}) => {
  const pair = await pairForTest()
  const users = await atOnce(Array.from({ length: USERS }, () => () => pair.signUp()))
  const ledger = new Ledger()
  const load = startLoad({ url: pair.url, users, ledger, persistent: true })
  await ledger.grows(50)
  const [dying] = pair.nodes
  await dying.product.stop('SIGKILL')
  const killed = load.outcomes.length
  await ledger.grows(100)
  await dying.product.start()
  await ledger.grows(50)
  await load.stop()

  const failed = load.outcomes.filter(({ status }) => status !== 200 && status !== 201)
  expect(failed.length).toBeLessThanOrEqual(USERS)
  expect(await ledger.lostIn(pair.db)).toEqual([])
  expect(await findCounterDifferences(pair.db)).toEqual([])
  await annotate(
    `${ledger.posts.size} acknowledged, ${failed.length} unanswered, ${load.outcomes.length - killed} calls after the kill`,
  )
})

test('the connections on which nodes hear of each other cut, 10 times: stale for a second at most, and not at all once they are back', {
  timeout: 120_000,
}, async () => {
  const pair = await pairForTest()
  const olga = await pair.signUp()
  const stale: Stale[] = []
  for (let cut = 0; cut < 10; cut++) {
    const { writer, readers } = rolesIn(pair, cut)
    const [reader] = readers
    await newestText(reader)
    const text = `Не услышали ${cut}`
    const before = await listeners(pair)
    expect(before).toHaveLength(2)
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'vslukh notices' AND datname = current_database()`.execute(pair.db)
    await writer.direct.publish(olga, text)
    const published = Date.now()
    let lastStale = 0
    for (;;) {
      const asked = Date.now()
      if ((await newestText(reader)) === text) break
      lastStale = asked
    }
    expect(lastStale - published).toBeLessThanOrEqual(1000)

    await expect
      .poll(async () => (await listeners(pair)).filter((pid) => !before.includes(pid)).length)
      .toBe(2)
    for (let round = 0; round < 5; round++) stale.push(...(await changeAndRead(pair, olga, round)))
  }
  expect(stale).toEqual([])
})

/** The backends that carry notices to the nodes. */
async function listeners({ db }: Pair): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE application_name = 'vslukh notices' AND datname = current_database()
    AND query LIKE 'LISTEN%' AND state = 'idle'`.execute(db)
  return rows.map(({ pid }) => pid)
}
