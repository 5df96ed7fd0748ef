import { expect, test } from 'vitest'
import { findCounterDifferences } from '../../server/posts/counters.task.ts'
import { Ledger } from '../testing/ledger.ts'
import { startLoad } from '../testing/load.ts'
import { lookInside, postmasterOf } from './embedded-database.ts'
import { signUps, startedProduct } from './installed.ts'

const KILLS = 20

test('kill -9 in the middle of writes, 20 times, every second time of the database too: no acknowledged post, reply or like is lost, counters are exact, the next start needs no hand', {
  timeout: 400_000,
}, async ({ annotate }) => {
  const { product, client } = await startedProduct()
  const users = await signUps(client, 4)
  const ledger = new Ledger()
  for (let kill = 0; kill < KILLS; kill++) {
    const load = startLoad({ url: product.url, users, ledger })
    // A different moment of the users' days each time.
    await ledger.grows(5 + ((kill * 7) % 40))
    const postmaster = await postmasterOf(product.dataDir)
    const killed = product.stop('SIGKILL')
    if (kill % 2 === 1) process.kill(postmaster, 'SIGKILL')
    await Promise.all([killed, load.ended])

    await product.start()
    await lookInside(product.dataDir, async (db) => {
      expect(await ledger.lostIn(db)).toEqual([])
      expect(await findCounterDifferences(db)).toEqual([])
    })
  }
  await annotate(`${KILLS} kills, ${ledger.posts.size} acknowledged posts and replies`)
})
