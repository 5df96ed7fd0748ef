import { findHeadlessChromium } from '../e2e/testing/chromium.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

/** Finds a browser and builds the web where it is out of date, before the first journey. */
export async function setup(): Promise<void> {
  await findHeadlessChromium()
  await buildWebIfNeeded()
}
