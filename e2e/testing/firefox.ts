import { join } from 'node:path'
import { launch, type Page } from 'puppeteer-core'
import { findProgram } from '../../server/testing/debian-package.ts'
import type { DrivenBrowser, TabDriver } from './driven-browser.ts'

const NAMES = ['firefox-esr', 'firefox']
const MAC_PATH = '/Applications/Firefox.app/Contents/MacOS/firefox'

/**
 * Finds Firefox; otherwise installs Debian's package for root. Throws an Error that states what to
 * do.
 */
export function findFirefox(): Promise<string> {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/snap/bin'].filter(Boolean)
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)))
  return findProgram([...paths, MAC_PATH], {
    debianPackage: 'firefox-esr',
    advice: 'No Firefox found: install Firefox, or Debian’s package firefox-esr',
  })
}

/** Starts a headless Firefox, driven by WebDriver BiDi. */
export async function launchFirefox(): Promise<DrivenBrowser> {
  const browser = await launch({ browser: 'firefox', executablePath: await findFirefox() })
  return {
    async openTab() {
      const context = await browser.createBrowserContext()
      const page = await context.newPage()
      await page.setViewport({ width: 1280, height: 900 })
      return { ...driverOf(page), close: () => context.close() }
    },
    close: () => browser.close(),
  }
}

function driverOf(page: Page): Omit<TabDriver, 'close'> {
  return {
    goto: async (url) => void (await page.goto(url)),
    evaluate: (expression) => page.evaluate(expression),
    clickAt: (x, y) => page.mouse.click(x, y),
    type: (text) => page.keyboard.type(text),
    press: (key) => page.keyboard.press(key),
  }
}
