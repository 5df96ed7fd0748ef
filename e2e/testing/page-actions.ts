import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { profileLink } from './sign-in-actions.ts'

/** The post with these words in it. */
export function postWith(page: Page, text: string | RegExp): Locator {
  return page.getByRole('article').filter({ hasText: text })
}

/** The texts of the posts on the page, in their order. */
export function postTexts(page: Page): Promise<string[]> {
  return page.getByRole('article').locator('[id$="-text"]').allTextContents()
}

/** The distance of a post from the top of the viewport, in whole px. */
function topOf(post: Locator): Promise<number> {
  return post.evaluate((element) => Math.round(element.getBoundingClientRect().top))
}

/** Whether a post stands at `top` px; one either way is rounding. */
export async function isAt(post: Locator, top: number): Promise<boolean> {
  return Math.abs((await topOf(post)) - top) <= 1
}

/** Scrolls until a post stands at `top` px; posts above it get their height only when they come near. */
export function bringTo(post: Locator, top: number): Promise<void> {
  return expect
    .poll(async () => {
      await post.evaluate((it, at) => scrollBy(0, it.getBoundingClientRect().top - at), top)
      await post.evaluate(() => new Promise(requestAnimationFrame))
      return isAt(post, top)
    })
    .toBe(true)
}

/** Scrolls to the end again and again until the page shows `count` posts. */
export function readOn(page: Page, count: number): Promise<void> {
  return expect
    .poll(async () => {
      // The page may have grown meanwhile, so the end of a moment ago is now its middle. Not by a key: its smooth scrolling
      // would still be running when the test goes on.
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
      return (await page.getByRole('article').count()) >= count
    })
    .toBe(true)
}

/** Opens the menu of a post. */
export async function openMenu(post: Locator): Promise<Locator> {
  await post.getByRole('button', { name: 'Ещё' }).click()
  const menu = post.page().getByRole('menu')
  await menu.waitFor()
  return menu
}

/** Chooses an item from the menu of a post. */
export async function chooseFromMenu(post: Locator, name: string): Promise<void> {
  await (await openMenu(post)).getByRole('menuitem', { name }).click()
}

/** Opens the dialog for a new post as a signed-in user. */
export async function startPost(page: Page): Promise<Locator> {
  await profileLink(page).waitFor()
  await page.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.waitFor()
  return dialog
}

/** The field of a dialog in which a text is written. */
export function textField(dialog: Locator): Locator {
  return dialog.getByRole('textbox', { name: 'Текст записи' })
}

/** The toast with exactly these words. */
export function toast(page: Page, text: string): Locator {
  return page.getByRole('status').getByText(text, { exact: true })
}

/** Chooses another view by the switcher of a top-level page. */
export async function switchView(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).getByRole('button').click()
  await page.getByRole('option', { name }).click()
}

/** Waits until a signed-in viewer's browser has fetched what the next taps may need; the settings come last. */
export async function untilPreloaded(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const fetched = performance.getEntriesByType('resource')
    return fetched.some(({ name }) => /\/assets\/settings-[^/]+\.js$/.test(name))
  })
}

/** Holds back every call to an address until `letGo()` lets all of them continue. */
export async function holdCalls(page: Page, address: string | RegExp) {
  const methods: string[] = []
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    methods.push(route.request().method())
    asked.resolve()
    await gate.promise
    await route.continue()
  })
  return {
    /** The methods of the calls so far. */
    methods,
    /** Resolves when the first has been sent. */
    asked: asked.promise,
    letGo: gate.resolve,
  }
}

/** Counts the requests of the page whose method and path match, from now on; returns a function that returns the number. */
export function countRequests(page: Page, method: string, path: RegExp): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.method() === method && path.test(request.url())) count++
  })
  return () => count
}

/** Scrolls `by` px with the mouse wheel. */
export async function scroll(page: Page, by: number): Promise<void> {
  await page.mouse.move(200, 400)
  await page.mouse.wheel(0, by)
}

/** Types on a ЙЦУКЕН keyboard: each letter with its own key. */
export async function typeRussian(page: Page, text: string): Promise<void> {
  const keyboard = await page.context().newCDPSession(page)
  // Without a wait between the keys: on a busy machine letters would be too far apart to be one word.
  const events = [...text].flatMap((key) => {
    const code = codeOfLetter(key)
    return [
      { type: 'keyDown', key, code, text: key } as const,
      { type: 'keyUp', key, code } as const,
    ]
  })
  await Promise.all(events.map((event) => keyboard.send('Input.dispatchKeyEvent', event)))
  await keyboard.detach()
}

/** Waits for a dialog that has the focus, by its title. */
export async function dialogOf(page: Page, name: string) {
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await expect.poll(() => dialog.evaluate((it) => it.contains(document.activeElement))).toBe(true)
  return dialog
}

/** The accessible name of the focused element. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null
    return element?.getAttribute('aria-label') ?? element?.innerText ?? ''
  })
}

/** The text of the focused post. */
export function focusedPost(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const text = document.activeElement?.querySelector<HTMLElement>(
      ':scope[data-post-id] [id$="-text"]',
    )
    return text?.innerText
  })
}

const ROWS = [
  ['йцукенгшщз', 'QWERTYUIOP'],
  ['фывапролд', 'ASDFGHJKL'],
  ['ячсмить', 'ZXCVBNM'],
] as const

function codeOfLetter(letter: string): string {
  if (letter === ' ') return 'Space'
  for (const [russian, latin] of ROWS) {
    const at = russian.indexOf(letter)
    if (at >= 0) return `Key${latin[at]}`
  }
  throw new Error(`No key for «${letter}»`)
}

/** Makes a page a browser that refuses to copy, in both ways there are. */
export function refuseToCopy(): void {
  Object.defineProperty(navigator, 'clipboard', { value: undefined })
  document.execCommand = () => false
}

/** The computed value of a CSS property. */
export function styleOf(element: Locator, property: string): Promise<string> {
  return element.evaluate((it, name) => getComputedStyle(it).getPropertyValue(name), property)
}
