import { findChromium } from '../e2e/testing/chromium.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

/** Before the first journey: the browser is there and dist/web is what the sources say. */
export async function setup(): Promise<void> {
  await findChromium()
  await buildWebIfNeeded()
}
