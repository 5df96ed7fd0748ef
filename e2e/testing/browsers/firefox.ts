import { launch } from 'puppeteer-core'
import { findProgram } from '../../../server/testing/process/debian-package.ts'
import type { DrivenBrowser } from './driven-browser.ts'

/** Otherwise installs Debian's package for root. Throws an Error that states what to do. */
export function findFirefox(): Promise<string> {
  const usual = ['/usr/bin/firefox-esr', '/usr/bin/firefox', '/snap/bin/firefox']
  const ofMac = '/Applications/Firefox.app/Contents/MacOS/firefox'
  return findProgram([...usual, ofMac], 'firefox-esr')
}

/** Starts a headless Firefox, driven by WebDriver BiDi. */
export async function launchFirefox(): Promise<DrivenBrowser> {
  const browser = await launch({ browser: 'firefox', executablePath: await findFirefox() })
  return {
    async openTab() {
      const context = await browser.createBrowserContext()
      const page = await context.newPage()
      await page.setViewport({ width: 1280, height: 900 })
      return {
        goto: (url) => page.goto(url),
        evaluate: (expression) => page.evaluate(expression),
        clickAt: (x, y) => page.mouse.click(x, y),
        type: (text) => page.keyboard.type(text),
        press: (key) => page.keyboard.press(key),
        close: () => context.close(),
      }
    },
    close: () => browser.close(),
  }
}
