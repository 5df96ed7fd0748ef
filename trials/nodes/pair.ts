import {
  createProductClient,
  type ProductClient,
  startProductForTest,
} from '../../e2e/testing/product.ts'
import type { Db } from '../../server/kernel/db/database.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { openDatabaseForTest } from '../../server/testing/database/database-for-test.ts'
import { openBalancer } from '../../server/testing/http/balancer.ts'
import type { PAST_CACHE, TestUser } from '../../server/testing/http/client.ts'
import { mailboxForTest } from '../../server/testing/mail/mailbox.ts'

/** Its client calls the node itself, not through the balancer. */
export type Node = Awaited<ReturnType<typeof startNode>>

/** The client calls both nodes in turn through a balancer. */
export type Pair = ProductClient & { url: string; nodes: [Node, Node]; db: Db }

/** Starts two nodes on one database, until the test ends. */
export async function pairForTest(): Promise<Pair> {
  const { db, url } = await openDatabaseForTest()
  const mailbox = await mailboxForTest()
  const settings = { DATABASE_URL: url, SMTP_URL: mailbox.url }
  const nodes: [Node, Node] = [await startNode(settings), await startNode(settings)]
  const addresses = nodes.map(({ product }) => `http://${product.address}`)
  const balancer = closeAfterTest(await openBalancer(addresses))
  return { ...createProductClient(balancer), url: balancer.url, nodes, db }
}

/** Starts a node behind a balancer, until the test ends. */
export function startNode(env: Record<string, string>) {
  return startProductForTest({ env: { TRUST_PROXY: '127.0.0.1', ...env } })
}

/** A visitor, or a user whose headers state that they have just written on another node. */
type Reader = { node: Node; token?: string; headers?: typeof PAST_CACHE }
/** `since` is the time since the change was answered, in milliseconds. */
type Stale = { after: string; saw: unknown; since: number }

/** After each change the readers read until they see it. Returns each read that did not show it. */
export async function changeAndRead(
  { writer, user, readers }: { writer: Node; user: TestUser; readers: Reader[] },
  round: number,
): Promise<Stale[]> {
  const { token } = user
  const stale: Stale[] = []
  let changed = 0
  const check = async (after: string, read: () => Promise<unknown>, expected: unknown) => {
    for (;;) {
      const since = performance.now() - changed
      const saw = await read()
      if (saw === expected) return
      stale.push({ after, saw, since })
    }
  }

  for (const reader of readers) await newestText(reader)
  const text = `Круг ${round}`
  const { id } = await writer.client.publish(user, text)
  changed = performance.now()
  for (const reader of readers) await check('publishing', () => newestText(reader), text)

  for (const reader of readers) await textOf(reader, id)
  const body = { text: `Круг ${round}, исправлено` }
  await writer.client.call('PATCH', `/posts/${id}`, { token, body })
  changed = performance.now()
  for (const reader of readers) {
    await check('editing', () => textOf(reader, id), body.text)
    await check('editing', () => newestText(reader), body.text)
  }

  await writer.client.call('DELETE', `/posts/${id}`, { token })
  changed = performance.now()
  for (const reader of readers) {
    await check('deleting', () => textOf(reader, id), 'POST_NOT_FOUND')
    await check('deleting', async () => (await newestText(reader)) === body.text, false)
  }
  return stale
}

export function rolesIn(
  { nodes }: Pick<Pair, 'nodes'>,
  round: number,
): { writer: Node; other: Node } {
  const [one, two] = nodes
  return round % 2 === 0 ? { writer: one, other: two } : { writer: two, other: one }
}

export async function newestText({ node, ...sent }: Reader): Promise<string | undefined> {
  return (await node.client.call('GET', '/posts', sent)).body.posts[0]?.text
}

async function textOf({ node, ...sent }: Reader, id: string): Promise<string> {
  const { body } = await node.client.call('GET', `/posts/${id}`, sent)
  return body.text ?? body.code
}
