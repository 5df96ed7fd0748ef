import { findFirefox } from '../e2e/testing/firefox.ts'
import { findWebKit } from '../e2e/testing/webkit.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

/** Finds the browsers and builds the web where it is out of date, before the first journey. */
export async function setup(): Promise<void> {
  await findFirefox()
  await findWebKit()
  await buildWebIfNeeded()
}
