import type { Page } from 'playwright-core'

/** Waits until the app handles presses: rendered pages are static until then. */
export async function whenScriptsRun(page: Page): Promise<void> {
  await page.locator('html:not([data-static])').waitFor({ state: 'attached' })
}
