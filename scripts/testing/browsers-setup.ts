import { findFirefox } from '../../e2e/testing/browsers/firefox.ts'
import { findWebKit } from '../../e2e/testing/browsers/webkit.ts'
import { buildWebIfNeeded } from '../build-web-if-needed.ts'

export async function setup(): Promise<void> {
  await findFirefox()
  await findWebKit()
  await buildWebIfNeeded()
}
