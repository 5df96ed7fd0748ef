import { findBalancer } from '../../server/testing/http/balancer.ts'
import { buildWebIfNeeded } from '../build-web-if-needed.ts'

export async function setup(): Promise<void> {
  await findBalancer()
  await buildWebIfNeeded()
}
