import { inject, onTestFinished } from 'vitest'
import {
  APP_SECRET,
  createProduct,
  createProductClient,
  type Product,
  type ProductClient,
} from '../../e2e/testing/product.ts'
import { type Db, openDatabase } from '../../server/kernel/db/database.ts'
import { openBalancer } from '../../server/testing/balancer.ts'
import { freshDatabase } from '../../server/testing/databases.ts'
import { openMailbox } from '../../server/testing/mailbox.ts'

/** `direct` calls the node itself, not through the balancer. */
export type Node = { product: Product; direct: ProductClient }

/** The client calls both nodes in turn through a balancer. */
export type Pair = ProductClient & {
  url: string
  nodes: [Node, Node]
  db: Db
  close(): Promise<void>
}

/** The caller closes the pair. */
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

export async function startNode(
  stack: AsyncDisposableStack,
  env: Record<string, string>,
): Promise<Node> {
  const product = await createProduct({ APP_SECRET, TRUST_PROXY: '127.0.0.1', ...env })
  stack.defer(() => product.remove())
  await product.start()
  return { product, direct: createProductClient(product) }
}

export async function pairForTest(): Promise<Pair> {
  const pair = await startPair()
  onTestFinished(() => pair.close())
  return pair
}
