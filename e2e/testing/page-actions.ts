import type { Locator, Page, Route } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../../contract/constants.ts'
import { profileLink } from './sign-in-actions.ts'

export function postWith(page: Page, text: string | RegExp): Locator {
  return page.getByRole('article').filter({ hasText: text })
}

export function postTexts(page: Page): Promise<string[]> {
  return page.getByRole('article').locator('[id$="-text"]').allTextContents()
}

export function boxOf(element: Locator): Promise<DOMRect> {
  return element.evaluate((it) => it.getBoundingClientRect().toJSON())
}

/** Allows one px of rounding in either direction. */
export async function isAt(post: Locator, top: number): Promise<boolean> {
  return Math.abs(Math.round((await boxOf(post)).top) - top) <= 1
}

const FRAMES_TO_LAY_OUT = 10

/** Scrolls repeatedly, because posts above get their true height only some frames later. */
export function bringTo(post: Locator, top: number): Promise<void> {
  const scroll = async (it: Element, { at, frames }: { at: number; frames: number }) => {
    scrollBy(0, it.getBoundingClientRect().top - at)
    for (let frame = 0; frame < frames; frame++) await new Promise(requestAnimationFrame)
  }
  return expect
    .poll(async () => {
      await post.evaluate(scroll, { at: top, frames: FRAMES_TO_LAY_OUT })
      return isAt(post, top)
    })
    .toBe(true)
}

/** Reloads a page until it shows something: a page of a user may be a second late. */
export function reloadUntil(shown: Locator): Promise<void> {
  return expect
    .poll(async () => {
      await shown.page().reload()
      return shown.count()
    })
    .toBe(1)
}

/** Clicks a link of a page without scripts, and waits for the page that it opens. */
export async function followLink(link: Locator): Promise<void> {
  // The page that has the link may be loading still.
  await link.page().waitForLoadState()
  const loaded = link.page().waitForEvent('load')
  await link.click()
  await loaded
}

/** Taps without scrolling: click() may scroll to a button that is still moving. */
export function tap(button: Locator): Promise<void> {
  return button.dispatchEvent('click')
}

/** Returns a function that returns the largest distance (px) of a post from its place since. */
export async function recordMoves(post: Locator): Promise<() => Promise<number>> {
  await post.evaluate((it) => {
    const { top } = it.getBoundingClientRect()
    const moves = { most: 0 }
    Reflect.set(window, 'moves', moves)
    const look = () => {
      moves.most = Math.max(moves.most, Math.abs(it.getBoundingClientRect().top - top))
      if (Reflect.get(window, 'moves') === moves) requestAnimationFrame(afterPaint)
    }
    const afterPaint = () => setTimeout(look)
    afterPaint()
  })
  return () =>
    post.evaluate(async () => {
      for (let frame = 0; frame < 10; frame += 1) await new Promise(requestAnimationFrame)
      return Reflect.get(window, 'moves').most
    })
}

/**
 * Records what a function returns at each frame of the documents that the page loads from now on.
 * Returns a function that returns the different values of the current document.
 */
export async function recordFrames(page: Page, look: () => string | null | undefined) {
  await page.addInitScript(`{
    const seen = (window.seen = new Set())
    const record = () => {
      seen.add((${look})())
      requestAnimationFrame(record)
    }
    requestAnimationFrame(record)
  }`)
  return async () => {
    const seen = await page.evaluate(() => [...(Reflect.get(window, 'seen') as Set<string>)])
    return seen.filter(Boolean)
  }
}

export function readOn(page: Page, count: number): Promise<void> {
  return expect
    .poll(async () => {
      // Repeats, because the end moves as the page grows. A key would scroll smoothly, on into the
      // rest of the test.
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
      return (await page.getByRole('article').count()) >= count
    })
    .toBe(true)
}

export async function openMenu(post: Locator): Promise<Locator> {
  await post.getByRole('button', { name: 'Ещё' }).click()
  const menu = post.page().getByRole('menu')
  await menu.waitFor()
  return menu
}

/** Opens the page of a post, with its replies, from a list. */
export async function openThread(page: Page, text: string): Promise<void> {
  await page.getByText(text, { exact: true }).click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
}

export async function chooseFromMenu(post: Locator, name: string): Promise<void> {
  await (await openMenu(post)).getByRole('menuitem', { name }).click()
}

export async function startPost(page: Page): Promise<Locator> {
  await profileLink(page).waitFor()
  // An empty list of the viewer's own has such a button too.
  await page.getByRole('button', { name: 'Новая запись' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Новая запись', exact: true })
  await dialog.waitFor()
  return dialog
}

/** Submits a new post by the keyboard. Returns its dialog, which closes once it is sent. */
export async function submitPost(page: Page, text: string): Promise<Locator> {
  const dialog = await startPost(page)
  await textField(dialog).fill(text)
  await page.keyboard.press('Control+Enter')
  return dialog
}

/** Opens another tab of a user's browser. */
export async function openTab(page: Page, path = '/'): Promise<Page> {
  const tab = await page.context().newPage()
  await tab.goto(new URL(path, page.url()).href)
  await profileLink(tab).waitFor()
  return tab
}

export function textField(dialog: Locator): Locator {
  return dialog.getByRole('textbox', { name: /^Текст (записи|ответа)$/ })
}

/** Returns the texts of drafts and of the outbox, sorted. */
export function storedTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const entries = Object.entries(localStorage).filter(([key]) => /^(draft|outbox) /.test(key))
    return entries.map(([, value]) => JSON.parse(value).text).sort()
  })
}

/** Waits until a dialog that opens has stopped moving. */
export async function untilStill(dialog: Locator): Promise<void> {
  await dialog.evaluate((it) => Promise.allSettled(it.getAnimations().map((one) => one.finished)))
}

/** Closes a dialog or a menu by the Escape key. */
export async function closeByKey(dialog: Locator): Promise<void> {
  await dialog.page().keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}

export function like(where: Page | Locator): Locator {
  return where.getByRole('button', { name: 'Нравится' })
}

export function newPosts(page: Page): Locator {
  return page.getByRole('button', { name: 'Показать новые записи' })
}

export function toast(page: Page, text: string): Locator {
  return page.getByRole('status').getByText(text, { exact: true })
}

/** Returns the header's button that lists the other views of the feed. */
export function feedSwitcher(page: Page): Locator {
  return page.getByRole('banner').locator('[aria-haspopup=listbox]')
}

export async function switchView(page: Page, name: string): Promise<void> {
  await feedSwitcher(page).click()
  await page.getByRole('option', { name }).click()
}

/** Waits for the chunks of the settings, which are preloaded last. */
export async function untilPreloaded(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const fetched = performance.getEntriesByType('resource')
    return fetched.some(({ name }) => /\/assets\/settings-[^/]+\.js$/.test(name))
  })
}

/** Delays the next calls to an address until `letGo()`. */
export async function holdCalls(page: Page, address: string | RegExp, times = 99) {
  const methods: string[] = []
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    methods.push(route.request().method())
    asked.resolve()
    await gate.promise
    await route.continue()
  }
  await page.route(address, hold, { times })
  return {
    methods,
    /** Resolves when the first call has been sent. */
    asked: asked.promise,
    letGo: gate.resolve,
  }
}

/** Cuts the page off. Waits until its requests fail: the browser's network process learns it last. */
export async function goOffline(page: Page): Promise<void> {
  await page.context().setOffline(true)
  await expect.poll(() => page.evaluate(isAnswered)).toBe(false)
}

/** Ends goOffline(). Waits until the page's requests are answered. */
export async function goOnline(page: Page): Promise<void> {
  await page.context().setOffline(false)
  await expect.poll(() => page.evaluate(isAnswered)).toBe(true)
}

function isAnswered(): Promise<boolean> {
  return fetch('/livez', { cache: 'no-store' }).then(Boolean, () => false)
}

/** Keeps the page without the news stream, with which the network would never be idle. */
export async function refuseNews(page: Page): Promise<void> {
  await page.route(`**${LIVE_PATH}`, (route) => route.fulfill({ status: 204 }))
}

/** Turns on the browser's data saving. */
export async function spareBytes(page: Page): Promise<void> {
  const browser = await page.context().newCDPSession(page)
  await browser.send('Emulation.setDataSaverOverride', { dataSaverEnabled: true })
}

/** Counts matching requests from now on; returns a function that returns their number. */
export function countRequests(page: Page, methods: string, path: RegExp): () => number {
  let count = 0
  page.on('request', (request) => {
    if (methods.split(' ').includes(request.method()) && path.test(request.url())) count++
  })
  return () => count
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

export async function scroll(page: Page, by: number): Promise<void> {
  await page.mouse.move(200, 400)
  await page.mouse.wheel(0, by)
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

/** Waits until the dialog has the focus. */
export async function dialogOf(page: Page, name: string) {
  const dialog = page.getByRole('dialog', { name, exact: true })
  await dialog.waitFor()
  await expect.poll(() => dialog.evaluate((it) => it.contains(document.activeElement))).toBe(true)
  return dialog
}

export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.querySelector<HTMLElement>(':focus')
    return element?.getAttribute('aria-label') ?? element?.innerText ?? ''
  })
}

export function focusedPost(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const text = document.activeElement?.querySelector<HTMLElement>(
      ':scope[data-post-id] [id$="-text"]',
    )
    return text?.innerText
  })
}

export function styleOf(element: Locator, property: string): Promise<string> {
  return element.evaluate((it, name) => getComputedStyle(it).getPropertyValue(name), property)
}

/** Refuses the next call of a path for some seconds. */
export function refuseOnce(page: Page, path: string, message: string, seconds: number) {
  const headers = { 'retry-after': String(seconds) }
  const json = { code: 'TOO_MANY_REQUESTS', message }
  return page.route(path, (route) => route.fulfill({ status: 429, headers, json }), { times: 1 })
}

/** An answer that refuses a text for good. */
export const REFUSED = {
  status: 400,
  json: { code: 'INVALID_REQUEST', message: 'Проверьте введённые данные' },
}
