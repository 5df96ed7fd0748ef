import type { Locator, Page } from 'playwright-core'

/** Waits until the app handles presses: rendered pages are static until then. */
export async function whenScriptsRun(page: Page): Promise<void> {
  await page.locator('html:not([data-static])').waitFor({ state: 'attached' })
}

/** Returns the sentence of a page whose scripts do not run. */
export function noScripts(page: Page): Locator {
  return page.getByText('Скрипты страницы не работают')
}
