import { findBalancer } from '../server/testing/balancer.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

/** Finds the balancer and builds the web where it is out of date, before the first test on two nodes. */
export async function setup(): Promise<void> {
  await findBalancer()
  await buildWebIfNeeded()
}
