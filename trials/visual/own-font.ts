import type { Page } from 'playwright-core'
import { whenScriptsRun } from '../../e2e/testing/when-scripts-run.ts'

/** Opens a page again until it shows the product's own font, which may load too late to be used. */
export async function openInOwnFont(page: Page, url: string): Promise<void> {
  do {
    await page.goto(url)
    await whenScriptsRun(page)
    await page.evaluate('document.fonts.ready.then(() => undefined)')
  } while (!(await page.evaluate(hasOwnFont)))
}

/** Whether letters of both alphabets differ in width from the fallback font. */
function hasOwnFont(): boolean {
  const text = document.createElement('span')
  document.body.append(text)
  const width = (letters: string, fontFamily: string): number => {
    text.textContent = letters
    text.style.fontFamily = fontFamily
    return text.getBoundingClientRect().width
  }
  const own = ['жжжж', 'wwww'].every(
    (letters) => width(letters, '"Golos Text Variable", monospace') !== width(letters, 'monospace'),
  )
  text.remove()
  return own
}
