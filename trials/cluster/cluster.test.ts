import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { printMarkdown } from '../../bench/table.ts'
import { AcknowledgedWrites } from '../../e2e/testing/acknowledged-writes.ts'
import { createProductClient, startProductForTest } from '../../e2e/testing/product.ts'
import { recordCalls } from '../../e2e/testing/recorded-calls.ts'
import { findCounterDifferences } from '../../server/features/posts/counters.task.ts'
import { openDatabase } from '../../server/kernel/db/database.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { countListeningNodes } from '../../server/testing/database/databases.ts'
import { openPostgresProxy } from '../../server/testing/database/postgres-proxy.ts'
import { DEVICE, PAST_CACHE, type TestUser } from '../../server/testing/http/client.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'
import { freePort } from '../../server/testing/process/free-port.ts'
import { startProxy } from '../operations/proxies.ts'
import { isVisitorRead, isWritten, startLoad, type VisitorRead } from './cluster-load.ts'
import { PATIENTLY, startPostgresCluster } from './postgres-cluster.ts'

const WRITERS = 4
/** Longer than Patroni, HAProxy and the product's own timeouts wait. */
const CUT_MS = 12_000
const ETCD_AWAY_MS = 15_000
/** Jobs look for work every two seconds. */
const STEPPED_DOWN_MS = 6000
const NODE_AWAY_MS = 3000

const HEAD = [
  ...['Fault', 'lasted, s', 'longest pause between writes, s'],
  ...['visitors’ reads failed', 'signed-in reads failed'],
]
/** What a node may tell of a fault besides the outage. */
const MAY_TELL: Record<string, string> = {
  // The cut-off node may leave the row of a code locked, so that the other stores later.
  'network cut': 'outcome not stored',
  'node killed': 'jobs of a server that is gone run again',
}
const OUTAGE = /^the database is (away|read-only)$/
const BACK = 'the database is back'
const TROUBLE =
  /"level":"(?:warn|error|fatal)".*"msg":"(?!requests refused|the doctor)(.*)"|^(Trace:.*|Error.*)/

type Site = Awaited<ReturnType<typeof startSite>>
type Node = Awaited<ReturnType<typeof startProductForTest>>

const FAULTS: Record<string, (site: Site) => Promise<unknown>> = {
  switchover: ({ cluster }) => cluster.switchOver(),

  async 'primary killed'({ cluster }) {
    const dying = await cluster.primary()
    await dying.killDatabase()
    await cluster.primaryOtherThan(dying)
    dying.startPatroni()
  },

  async 'node killed'({ nodes }) {
    const { product } = nodes[1]
    await product.stop('SIGKILL')
    await delay(NODE_AWAY_MS)
    await product.start()
  },

  async 'etcd killed'({ cluster: { machines } }) {
    await Promise.all(machines.map((machine) => machine.killEtcd()))
    await delay(ETCD_AWAY_MS)
    for (const machine of machines) machine.startEtcd()
  },

  async 'primary steps down'({ cluster }) {
    await cluster.setFailsafe(false)
    await Promise.all(cluster.machines.map((machine) => machine.killEtcd()))
    await cluster.withoutPrimary()
    await delay(STEPPED_DOWN_MS)
    for (const machine of cluster.machines) machine.startEtcd()
    await cluster.setFailsafe(true)
  },

  async 'network cut'({ line }) {
    line.freeze()
    await delay(CUT_MS)
    line.thaw()
  },
}

test('whatever fails, nothing acknowledged is lost or doubled, every session lives, visitors can always read, clients retry every refusal, and each node logs one begin and one end of an outage', {
  timeout: 900_000,
}, async () => {
  const site = await startSite()
  const { api } = await site.cluster.primary()
  const stranger = await fetch(api('/config'), { method: 'PATCH', body: '{}' })
  expect(stranger.status).toBe(401)
  const client = createProductClient(site)
  const users = await client.signUps(WRITERS + 1)
  const [reader, ...writers] = users
  if (!reader) throw new Error('users were signed up')
  const acknowledged = new AcknowledgedWrites()
  const text = 'Её читают все'
  const { id } = await client.publish(reader, text)
  acknowledged.addPost(id, text, null)
  const visitorReads: VisitorRead[] = [
    ['/posts'],
    ['/posts?limit=10'],
    [`/posts/${id}`],
    ['/', { isPage: true }],
    [`/posts/${id}`, { isPage: true }],
  ]
  const load = startLoad({ url: site.url, users: writers, visitorReads, acknowledged })
  onTestFinished(() => load.stop())
  await acknowledged.waitForMore(20)

  const rows = [HEAD]
  for (const fault of Object.keys(FAULTS)) {
    rows.push(await survive(fault, { site, load, reader, visitorReads }))
  }
  await site.cluster.settled()
  await load.stop()
  printMarkdown(rows)
  const { outcomes, newUsers } = load
  const posts = acknowledged.posts.size
  console.log(`${outcomes.length} calls, ${posts} posts, ${newUsers.length} sign-ins.`)

  expect(await acknowledged.findLost(site.db)).toEqual([])
  const stored = await site.db.selectFrom('posts').select('text').execute()
  expect(new Set(stored.map((post) => post.text)).size).toBe(stored.length)
  expect(stored.length).toBe(posts)
  expect(await findCounterDifferences(site.db)).toEqual([])
  expect(newUsers.length).toBeGreaterThan(0)
  for (const { token } of [...users, ...newUsers]) {
    expect((await client.call('GET', '/users/current', { token })).status).toBe(200)
  }
  expect(load.missed).toEqual([])
  expect(load.unexpected()).toEqual([])
  // What was read a moment ago is served from the cache while the database is away.
  const reads = outcomes.filter(isVisitorRead)
  expect(new Set(reads.map(({ call }) => call)).size).toBe(visitorReads.length)
  expect(reads.filter(({ status }) => status !== 200)).toEqual([])
  const lines = site.nodes.flatMap(({ product }) => product.lines)
  expect(lines.filter((line) => line.includes('"stack":'))).toEqual([])
})

/** The first node reaches the primary over a line that can be cut. */
async function startSite() {
  const cluster = await startPostgresCluster()
  const mailbox = await mailboxForTest()
  const line = closeAfterTest(await openPostgresProxy(cluster.primaryUrl))
  const lineUrl = new URL(cluster.primaryUrl)
  lineUrl.host = new URL(line.url).host
  const port = await freePort()
  const env = {
    PUBLIC_URL: `https://localhost:${port}`,
    SMTP_URL: mailbox.url,
    TRUST_PROXY: '127.0.0.1',
  }
  const startOn = (DATABASE_URL: string) => startProductForTest({ env: { ...env, DATABASE_URL } })
  const nodes: [Node, Node] = [await startOn(lineUrl.href), await startOn(cluster.primaryUrl)]
  const addresses = nodes.map(({ product }) => product.address)
  const { url } = await startProxy('HAProxy', addresses, port)
  const { db } = closeAfterTest(openDatabase(cluster.primaryUrl, () => {}))
  return { cluster, mailbox, line, nodes, url, db }
}

type Running = {
  site: Site
  load: ReturnType<typeof startLoad>
  reader: TestUser
  visitorReads: VisitorRead[]
}

/** Causes a fault, and waits until everything works again. Returns its line of the table. */
async function survive(fault: string, { site, load, reader, visitorReads }: Running) {
  await site.cluster.settled()
  // Since its last outage a node's cache is empty, and the balancer may not use the node yet.
  for (const { product } of site.nodes) {
    const { call } = recordCalls(product.url)
    for (const [path, sent] of visitorReads) {
      expect(await call('GET', path, sent)).toMatchObject({ status: 200 })
    }
  }
  const began = Date.now()
  const before = load.outcomes.length
  const linesBefore = site.nodes.map(({ product }) => product.lines.length)
  const [lastedMs] = await Promise.all([
    FAULTS[fault]?.(site).then(() => Date.now() - began),
    mailArrives(site),
    vi.waitUntil(() => load.outcomes.some((it) => isWritten(it) && it.began >= began), PATIENTLY),
  ])
  await expectChangesEverywhere(site, reader)
  const troubles = () =>
    site.nodes.map(({ product }, n) =>
      product.lines
        .slice(linesBefore[n])
        .flatMap((line) => TROUBLE.exec(line)?.slice(1).find(Boolean) ?? []),
    )
  // A node logs the end of an outage at its next probe.
  await vi.waitUntil(() => !troubles().some((told) => OUTAGE.test(told.at(-1) ?? '')), PATIENTLY)
  for (const told of troubles()) {
    const outages = told.filter((line) => line !== MAY_TELL[fault])
    expect([[], [expect.stringMatching(OUTAGE), BACK]], fault).toContainEqual(outages)
  }
  if (fault.startsWith('primary')) {
    expect(troubles().map((told) => told.at(-1))).toEqual([BACK, BACK])
  }

  const outcomes = load.outcomes.slice(before)
  const ends = outcomes.filter(isWritten).map(({ ended }) => ended)
  const pauses = ends.map((end, n) => end - (ends[n - 1] ?? began))
  const failed = (reads: typeof outcomes) =>
    `${reads.filter(({ status }) => status !== 200).length} of ${reads.length}`
  return [
    fault,
    ...[lastedMs ?? 0, Math.max(...pauses)].map((ms) => (ms / 1000).toFixed(1)),
    failed(outcomes.filter(isVisitorRead)),
    failed(outcomes.filter(({ call }) => call === 'GET /posts')),
  ]
}

async function mailArrives({ url, mailbox }: Site): Promise<void> {
  const { call } = recordCalls(url)
  const email = `${randomUUID()}@example.org`
  const body = { email, clientToken: randomUUID(), device: DEVICE }
  const isQueued = async () => (await call('POST', '/registrations', { body })).status === 201
  await vi.waitUntil(isQueued, PATIENTLY)
  await mailbox.mailTo(email)
}

/** Once both nodes are ready, a user sees their own change at once on the other node. */
async function expectChangesEverywhere({ nodes, db }: Site, { id: userId, token }: TestUser) {
  const isReady = ({ product }: Node) =>
    fetch(`${product.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await vi.waitUntil(async () => {
    const ready = await Promise.all(nodes.map(isReady))
    const listening = await countListeningNodes({ db }).catch(() => 0)
    return ready.every(Boolean) && listening === nodes.length
  }, PATIENTLY)
  for (const [writer, other] of [nodes, nodes.toReversed() as typeof nodes]) {
    const newest = async () => {
      const sent = { token, headers: PAST_CACHE }
      const { body } = await other.client.call('GET', `/posts?userId=${userId}`, sent)
      return body.posts?.[0]?.id
    }
    await newest()
    const body = { text: 'Видно и там' }
    const { id } = (await writer.client.call('POST', '/posts', { token, body })).body
    expect(id).toBeTypeOf('string')
    expect(await newest()).toBe(id)
    await writer.client.call('DELETE', `/posts/${id}`, { token })
    expect(await newest()).not.toBe(id)
  }
}
