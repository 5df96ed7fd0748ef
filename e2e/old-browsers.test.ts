import type { Page } from 'playwright-core'
import { transformWithOxc } from 'vite'
import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import { submitPost } from './testing/page/compose.ts'
import { like, postWith } from './testing/page/feed.ts'
import { signInButton, signInThrough } from './testing/sign-in-actions.ts'

/** Functions that the oldest browsers of the build's target lack. */
const NEWER_THAN_2024 = `Promise.withResolvers Promise.try AbortSignal.any Array.prototype.toSpliced
  HTMLElement.prototype.showPopover HTMLElement.prototype.hidePopover
  HTMLElement.prototype.togglePopover URL.parse RegExp.escape Set.prototype.union
  Set.prototype.intersection Set.prototype.difference Set.prototype.isSubsetOf
  Set.prototype.isSupersetOf Uint8Array.prototype.toHex Uint8Array.prototype.toBase64
  Element.prototype.moveBefore Element.prototype.setHTMLUnsafe Element.prototype.getHTML
  Iterator CloseWatcher Temporal`.split(/\s+/)
const TOO_OLD = 'Читать можно и так, а чтобы войти и писать, нужен браузер поновее'

test.for([
  ['lacks features of 2022', (page: Page) => takeAway(page, ['AbortSignal.timeout'])],
  ['cannot parse the scripts', spoilScripts],
] as const)(
  'a browser that %s shows the wall, and that signing in needs a newer browser',
  async ([_what, before], { journey, olga }) => {
    await journey.publish(olga, 'Запись для всех')
    const page = await journey.visit({
      waitsForScripts: false,
      expectedErrors: /SyntaxError/,
      before,
    })
    await page.getByText(TOO_OLD).waitFor()
    expect(await postWith(page, 'Запись для всех').isVisible()).toBe(true)
    expect(await signInButton(page).isVisible()).toBe(false)
  },
)

test('browsers of 2019 can parse the script that detects them', async ({ journey }) => {
  const html = await (await fetch(journey.url)).text()
  const script = html.match(/<script>(.*?)<\/script>/s)?.[1] ?? ''
  expect(script).toContain('/old-browser.js')
  const writtenFor = async (target: string) =>
    (await transformWithOxc(script, 'inline.js', { target })).code
  expect(await writtenFor('esnext')).toBe(await writtenFor('es2019'))
})

test('a browser that lacks features of 2024 can do everything', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Запись для всех: https://example.org/ и http://[сломано')
  const page = await journey.visit({ before: (it) => takeAway(it, NEWER_THAN_2024) })
  expect(await page.evaluate(() => 'parse' in URL)).toBe(false)
  await page.getByRole('link', { name: 'example.org', exact: true }).waitFor()
  await signInButton(page).click()
  await signInThrough(journey, page, petr.email)
  await submitPost(page, 'Пишу и отсюда')
  await postWith(page, 'Пишу и отсюда').waitFor()
  const heart = like(postWith(page, 'Запись для всех'))
  await heart.click()
  await heart.and(page.locator('[aria-pressed=true]')).waitFor()
  await page.getByText(TOO_OLD).waitFor({ state: 'detached' })
})

test('an error of a foreign script, early or late, breaks nothing', async ({ journey }) => {
  const breakOff = () => void setTimeout(() => JSON.parse('{oops'))
  const page = await journey.visit({
    expectedErrors: /SyntaxError/,
    before: (it) => it.addInitScript(breakOff),
  })
  const failed = page.waitForEvent('pageerror')
  await page.evaluate(breakOff)
  await failed
  // An error of the page's own scripts would show its message after one more request.
  await page.evaluate(() => fetch('/old-browser.js'))
  expect(await page.getByText(TOO_OLD).count()).toBe(0)
  await signInButton(page).click()
  await page.getByRole('dialog').waitFor()
})

async function takeAway(page: Page, names: string[]): Promise<void> {
  await page.addInitScript((all) => {
    for (const name of all) {
      const [last = '', ...owners] = name.split('.').reverse()
      let owner: object = globalThis
      for (const part of owners.reverse()) owner = Reflect.get(owner, part)
      Reflect.deleteProperty(owner, last)
    }
  }, names)
}

async function spoilScripts(page: Page): Promise<void> {
  await page.route('**/assets/*.js', (route) =>
    route.fulfill({ contentType: 'text/javascript', body: 'let x = class { static { ??? } }' }),
  )
}
