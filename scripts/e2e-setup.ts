import { findHeadlessChromium } from '../e2e/testing/chromium.ts'
import { buildWebIfNeeded } from './build-web-if-needed.ts'

export async function setup(): Promise<void> {
  await findHeadlessChromium()
  await buildWebIfNeeded()
}
