import { inject, onTestFinished } from 'vitest'
import { type Db, openDatabase } from '../../server/kernel/db/database.ts'
import { openBalancer } from '../../server/testing/balancer.ts'
import { freshDatabase } from '../../server/testing/databases.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'
import {
  APP_SECRET,
  createProduct,
  createProductClient,
  type Product,
  type ProductClient,
} from '../testing/product.ts'

/** A node, and a client that calls it directly, not through the balancer. */
export type Node = { product: Product; direct: ProductClient }

/** Two server processes on one database, and a client that calls both in turn through a balancer. */
export type Pair = ProductClient & {
  url: string
  nodes: [Node, Node]
  db: Db
  close(): Promise<void>
}

/** Starts two nodes and a balancer; `env` configures both nodes. The caller closes it. */
export async function startPair(env: Record<string, string> = {}): Promise<Pair> {
  const stack = new AsyncDisposableStack()
  const database = await freshDatabase(inject('databaseUrl'))
  stack.defer(database.drop)
  const mailbox = await openMailbox()
  stack.defer(mailbox.close)

  const settings = { DATABASE_URL: database.url, SMTP_URL: mailbox.url, ...env }
  const nodes: [Node, Node] = [await startNode(stack, settings), await startNode(stack, settings)]
  const balancer = await openBalancer(nodes.map(({ product }) => `http://${product.address}`))
  stack.defer(balancer.close)
  const { db, close } = openDatabase(database.url, () => {})
  stack.defer(close)
  return {
    ...createProductClient(balancer),
    url: balancer.url,
    nodes,
    db,
    close: () => stack.disposeAsync(),
  }
}

/** Starts a node behind a proxy, which is removed when the stack is disposed of. */
export async function startNode(
  stack: AsyncDisposableStack,
  env: Record<string, string>,
): Promise<Node> {
  const product = await createProduct({ APP_SECRET, TRUST_PROXY: '127.0.0.1', ...env })
  stack.defer(() => product.remove())
  await product.start()
  return { product, direct: createProductClient(product) }
}

/** Starts a pair for one test and closes it after the test. */
export async function pairForTest(): Promise<Pair> {
  const pair = await startPair()
  onTestFinished(() => pair.close())
  return pair
}
