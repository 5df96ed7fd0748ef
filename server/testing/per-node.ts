import { type TestAPI, test } from 'vitest'

/** How many nodes stand behind each test app, a balancer before them: one unless VSLUKH_NODES says otherwise. */
export const NODES = Number(process.env.VSLUKH_NODES ?? 1)

/** Why something is promised for each node by itself, and so cannot be seen through a balancer. */
type Reason =
  | 'limits counted in memory, by each node for itself'
  | 'bytes that a balancer would judge before any node'
  | 'what visitors of another node see some milliseconds later'
  | 'memory for the connections of one node'

/** A test of what each node promises by itself: it runs where the app is one node. */
export function testPerNode(_reason: Reason): TestAPI {
  return (NODES > 1 ? test.skip : test) as TestAPI
}
