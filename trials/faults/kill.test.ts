import { expect, test } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { signUpUsers, startProductForTest } from '../../e2e/testing/product.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { postmasterOf, withEmbeddedDatabase } from './embedded-database.ts'

const KILLS = 20

test('kill -9 in the middle of writes, 20 times, every second time of the database too: no acknowledged post, reply or like is lost, counters are exact, the next start needs no repair', {
  timeout: 400_000,
}, async ({ annotate }) => {
  const { product, client } = await startProductForTest()
  const users = await signUpUsers(client, 4)
  const acknowledged = new AcknowledgedWrites()
  for (let kill = 0; kill < KILLS; kill++) {
    const load = simulateUsers({ url: product.url, users, acknowledged })
    // At a different point of the users' actions each time.
    await acknowledged.waitForMore(5 + ((kill * 7) % 40))
    const postmaster = await postmasterOf(product.dataDir)
    const killed = product.stop('SIGKILL')
    if (kill % 2 === 1) process.kill(postmaster, 'SIGKILL')
    await Promise.all([killed, load.ended])

    await product.start()
    await withEmbeddedDatabase(product.dataDir, async (db) => {
      expect(await acknowledged.findLost(db)).toEqual([])
      expect(await findCounterDifferences(db)).toEqual([])
    })
  }
  await annotate(`${KILLS} kills, ${acknowledged.posts.size} acknowledged posts and replies`)
})
