import { findBalancer } from '../server/testing/balancer.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

/** Before the first test on two nodes: the balancer is there and dist/web is what the sources say. */
export async function setup(): Promise<void> {
  await findBalancer()
  await buildWebIfNeeded()
}
