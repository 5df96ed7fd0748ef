import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import {
  APP_SECRET,
  createProduct,
  createProductClient,
  databaseForTest,
  signUpUsers,
  startProductForTest,
} from '../../e2e/testing/product.ts'
import { simulateUsers } from '../../e2e/testing/simulated-users.ts'
import { makeRelease } from '../../scripts/release.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { openDatabase } from '../../server/kernel/db/database.ts'
import { atOnce } from '../../server/testing/at-once.ts'
import { folderForTest } from '../../server/testing/folder-for-test.ts'
import { freePort } from '../../server/testing/free-port.ts'
import { startProxy } from './proxies.ts'
import { haproxyConfig } from './proxy-configs.ts'
import { addMigration, linkRelease, NEXT_SCRIPT, unpackRelease } from './releases.ts'

/**
 * The release before: PREVIOUS_RELEASE names its archive. Otherwise it is this one, and the one
 * after it is made of it.
 */
const { PREVIOUS_RELEASE } = process.env

let folder: string
let archive: string
let before: string
let after: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vslukh-upgrade-'))
  archive = await makeRelease(folder)
  after = await unpackRelease(archive, join(folder, 'after'))
  if (PREVIOUS_RELEASE === undefined) await addMigration(after, { isAdditive: true })
  before = await unpackRelease(PREVIOUS_RELEASE ?? archive, join(folder, 'before'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('two nodes behind HAProxy are upgraded one after the other under load, and taken back, without a failed request or a lost write', {
  timeout: 180_000,
}, async ({ annotate }) => {
  const url = await databaseForTest()
  const links = [join(folder, 'node1'), join(folder, 'node2')]
  const nodes = await Promise.all(
    links.map(async (release) => {
      await linkRelease(release, before)
      const env = { DATABASE_URL: url, TRUST_PROXY: '127.0.0.1' }
      return (await startProductForTest({ env, release })).product
    }),
  )
  const [httpPort, httpsPort] = [await freePort(), await freePort()]
  const settings = { folder: await folderForTest(), httpPort, httpsPort }
  const addresses = nodes.map((node) => node.address)
  const proxy = await startProxy(await haproxyConfig({ ...settings, nodes: addresses }), settings)
  onTestFinished(proxy.close)

  const client = createProductClient(proxy)
  const users = await signUpUsers(client, 6)
  const acknowledged = new AcknowledgedWrites()
  const load = simulateUsers({ url: proxy.url, users, acknowledged, persistent: true })
  await acknowledged.waitForMore(50)
  for (const release of [after, before]) {
    for (const [n, node] of nodes.entries()) {
      await linkRelease(links[n] ?? '', release)
      expect(await node.stop()).toBe(0)
      const since = node.lines.length
      await node.start()
      // The balancer has seen that the node is back.
      const isServing = () => node.lines.slice(since).some((line) => line.includes('/api/v1/posts'))
      await expect.poll(isServing).toBe(true)
      await acknowledged.waitForMore(50)
      const isMixed = n === 0
      if (isMixed && PREVIOUS_RELEASE === undefined) await expectScript(proxy.url)
    }
  }
  await load.stop()

  const failed = load.outcomes.filter(({ status }) => status !== 200 && status !== 201)
  expect(failed).toEqual([])
  const { db, close } = openDatabase(url, () => {})
  onTestFinished(close)
  expect(await acknowledged.findLost(db)).toEqual([])
  expect(await findCounterDifferences(db)).toEqual([])
  await annotate(`${load.outcomes.length} calls, ${acknowledged.posts.size} posts`)
})

/**
 * Expects that a script which one of the two nodes has is always found, once the balancer knows
 * that this node is back.
 */
async function expectScript(url: string): Promise<void> {
  const read = () => fetch(url + NEXT_SCRIPT).then(({ status }) => status)
  await expect.poll(read).toBe(200)
  const statuses = await atOnce(Array.from({ length: 50 }, () => read))
  expect(new Set(statuses)).toEqual(new Set([200]))
}

test('after a migration that is not additive the release before refuses, names the version it needs, and changes nothing', {
  timeout: 120_000,
}, async ({ skip }) => {
  skip(PREVIOUS_RELEASE !== undefined, 'needs the release that the first one was made of')
  const release = await unpackRelease(archive, join(folder, 'breaking'))
  await addMigration(release, { isAdditive: false })
  const env = { DATABASE_URL: await databaseForTest(), APP_SECRET }
  const { product: newer } = await startProductForTest({ env, release })
  await newer.stop()
  const older = await createProduct(env, { release: before })
  onTestFinished(() => older.remove())
  await expect(older.start()).rejects.toThrow(/База новее: нужна версия 99\.0\.0/)
  await newer.start()
})
