import { findHeadlessChromium, isHeadlessShell } from '../../e2e/testing/browsers/chromium.ts'
import { buildWebIfNeeded } from '../build-web-if-needed.ts'

export async function setup(): Promise<void> {
  const path = await findHeadlessChromium()
  if (!isHeadlessShell(path)) {
    console.log(
      `The tests use ${path}. With Debian's chromium-headless-shell they take half the time.`,
    )
  }
  await buildWebIfNeeded()
}
