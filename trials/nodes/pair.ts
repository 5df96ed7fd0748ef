import {
  createProductClient,
  type Product,
  type ProductClient,
  startProductForTest,
} from '../../e2e/testing/product.ts'
import type { Db } from '../../server/kernel/db/database.ts'
import { closeAfterTest } from '../../server/testing/close-after-test.ts'
import { openDatabaseForTest } from '../../server/testing/database/database-for-test.ts'
import { openBalancer } from '../../server/testing/http/balancer.ts'
import { openMailbox } from '../../server/testing/mail/mailbox.ts'

/** `direct` calls the node itself, not through the balancer. */
export type Node = { product: Product; direct: ProductClient }

/** The client calls both nodes in turn through a balancer. */
export type Pair = ProductClient & { url: string; nodes: [Node, Node]; db: Db }

/** Starts two nodes on one database, until the test ends. */
export async function pairForTest(): Promise<Pair> {
  const { db, url } = await openDatabaseForTest()
  const mailbox = closeAfterTest(await openMailbox())
  const settings = { DATABASE_URL: url, SMTP_URL: mailbox.url }
  const nodes: [Node, Node] = [await startNode(settings), await startNode(settings)]
  const addresses = nodes.map(({ product }) => `http://${product.address}`)
  const balancer = closeAfterTest(await openBalancer(addresses))
  return { ...createProductClient(balancer), url: balancer.url, nodes, db }
}

/** Starts a node behind a balancer, until the test ends. */
export async function startNode(env: Record<string, string>): Promise<Node> {
  const options = { env: { TRUST_PROXY: '127.0.0.1', ...env } }
  const { product, client } = await startProductForTest(options)
  return { product, direct: client }
}
