import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap } from '../hands.ts'
import { profileLink } from '../sign-in-actions.ts'

/** Reloads a page until it shows something: a page of a user may be a second late. */
export function reloadUntil(shown: Locator): Promise<void> {
  return expect
    .poll(async () => {
      await shown.page().reload()
      return shown.count()
    })
    .toBe(1)
}

/** Clicks a link or a button that opens a document or reloads the page, and waits for the load. */
export async function clickToLoad(control: Locator): Promise<void> {
  // The page that has the control may be loading still.
  await control.page().waitForLoadState()
  const loaded = control.page().waitForEvent('load')
  await tap(control)
  await loaded
}

/** Opens another tab of a user's browser. */
export async function openTab(page: Page, path = '/'): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(new URL(path, page.url()).href)
  await profileLink(tab).waitFor()
  return tab
}

/** Returns the number of entries of the app before the current one. */
export function depth(page: Page): Promise<number> {
  return page.evaluate(() => history.state.index)
}

/** Hides the tab, or shows it again, as the page perceives it. */
export function setVisibility(page: Page, visibilityState: DocumentVisibilityState): Promise<void> {
  return page.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }, visibilityState)
}

/** Opens the page as in a background tab, until setVisibility() shows it. Call it before the visit. */
export function openHidden(page: Page): Promise<unknown> {
  return page.addInitScript(() =>
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true }),
  )
}

/** Acts as if the page was in the back/forward cache, in which WebKit drops its events. */
export function restoreFromCache(page: Page): Promise<unknown> {
  return page.evaluate(() =>
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })),
  )
}

const RUSSIAN = 'йцукенгшщзфывапролдячсмить'
const LATIN = 'QWERTYUIOPASDFGHJKLZXCVBNM'

/** Types on a ЙЦУКЕН keyboard: each letter with its own key. */
export async function typeRussian(page: Page, text: string): Promise<void> {
  const keyboard = await page.context().newCDPSession(page)
  // Waiting between the keys would separate the letters of a word by too much time.
  const events = [...text].flatMap((key) => {
    const code = key === ' ' ? 'Space' : `Key${LATIN[RUSSIAN.indexOf(key)]}`
    return [
      { type: 'keyDown', key, code, text: key } as const,
      { type: 'keyUp', key, code } as const,
    ]
  })
  await Promise.all(events.map((event) => keyboard.send('Input.dispatchKeyEvent', event)))
  await keyboard.detach()
}

export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.querySelector<HTMLElement>(':focus')
    return element?.getAttribute('aria-label') ?? element?.innerText ?? ''
  })
}
