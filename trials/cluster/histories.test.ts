import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { judge } from '../../e2e/testing/judge-history.ts'
import { createProductClient } from '../../e2e/testing/product.ts'
import { type Site, startSite } from './clustered-site.ts'
import { recordHistory } from './recorded-history.ts'

/** Longer than a node takes to notice that others answer again, and clients to move. */
const CALM_MS = 3000

let site: Site
let recording: ReturnType<typeof recordHistory>
beforeAll(async () => {
  site = await startSite()
  const { signUp } = createProductClient(site)
  const addresses = site.nodes.map(({ product }) => product.url)
  recording = recordHistory(addresses, [await signUp(), await signUp(), await signUp()])
})
afterAll(async () => {
  await recording?.stop()
  await site?.close()
})

test('while nodes and primaries are killed and replaced, clients see their own writes, reads go back by a second at most, nothing is lost, and no later write shows without the earlier ones', async () => {
  await delay(CALM_MS)
  for (const { product } of site.nodes) {
    await product.stop('SIGKILL')
    await delay(CALM_MS)
    await product.start()
    await delay(CALM_MS)
  }
  const dying = await site.cluster.primary()
  await dying.killDatabase()
  await site.cluster.primaryOtherThan(dying)
  dying.startPatroni()
  await site.cluster.settled()
  await delay(CALM_MS)
  await site.cluster.switchOver()
  await delay(CALM_MS)
  await site.cluster.settled()

  const history = await recording.stop()
  const writes = history.filter((one) => 'wrote' in one).length
  const stale = history.filter((one) => 'isStale' in one && one.isStale).length
  console.log(`${writes} writes and ${history.length - writes} reads, ${stale} of them stale.`)
  console.log(
    `${judge(history, 0).length} reads lacked within a second what was acknowledged or seen.`,
  )
  expect(judge(history)).toEqual([])
})
