import { test } from 'vitest'
import { postmasterOf, startUsedProduct } from './embedded-database.ts'

const KILLS = 20

test('kill -9 in the middle of writes, 20 times, every second time of the database too: no acknowledged post, reply or like is lost, counters are exact, the next start needs no repair', {
  timeout: 400_000,
}, async () => {
  const { product, acknowledged, use, expectNothingLost } = await startUsedProduct()
  for (let kill = 0; kill < KILLS; kill++) {
    const load = use()
    // At a different point of the users' actions each time.
    await acknowledged.waitForMore(5 + ((kill * 7) % 40))
    const postmaster = await postmasterOf(product.dataDir)
    const killed = product.stop('SIGKILL')
    if (kill % 2 === 1) process.kill(postmaster, 'SIGKILL')
    await killed
    await load.stop()

    await product.start()
    await expectNothingLost()
  }
})
