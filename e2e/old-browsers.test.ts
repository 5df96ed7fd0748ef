import type { APIResponse, Page } from 'playwright-core'
import { transformWithOxc } from 'vite'
import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { recordShifts, sumOfShifts } from './testing/layout-shifts.ts'
import { submitPost } from './testing/page/compose.ts'
import { like, postWith } from './testing/page/feed.ts'
import { holdCalls } from './testing/page/network.ts'
import { signInButton, signInThrough } from './testing/sign-in-actions.ts'
import { noScripts } from './testing/when-scripts-run.ts'

const SCRIPTS = /\/assets\/.*\.js$/

/** Functions that the oldest browsers of the build's target lack. */
const NEWER_THAN_2024 = `Promise.withResolvers Promise.try AbortSignal.any Array.prototype.toSpliced
  HTMLElement.prototype.showPopover HTMLElement.prototype.hidePopover
  HTMLElement.prototype.togglePopover URL.parse RegExp.escape Set.prototype.union
  Set.prototype.intersection Set.prototype.difference Set.prototype.isSubsetOf
  Set.prototype.isSupersetOf Uint8Array.prototype.toHex Uint8Array.prototype.toBase64
  Element.prototype.moveBefore Element.prototype.setHTMLUnsafe Element.prototype.getHTML
  Iterator CloseWatcher Temporal`.split(/\s+/)

test.for([
  ['a browser lacks features of 2022', (page: Page) => takeAway(page, ['AbortSignal.timeout'])],
  ['a browser lacks features of 2018', (page: Page) => takeAway(page, ['AbortSignal'])],
  ['a browser cannot parse the scripts', spoilScripts],
  ['a proxy has changed the scripts', changeScripts],
  ['a proxy forbids all scripts', forbidScripts],
  ['the scripts cannot be loaded', (page: Page) => page.route(SCRIPTS, (it) => it.abort())],
] as const)(
  'if %s, the wall can be read, and a sentence says why nobody can sign in',
  async ([_what, before], { journey, olga }) => {
    await journey.publish(olga, 'Запись для всех')
    const page = await journey.visit({ waitsForScripts: false, expectedErrors: /./, before })
    await noScripts(page).waitFor()
    expect(await postWith(page, 'Запись для всех').isVisible()).toBe(true)
    expect(await signInButton(page).isVisible()).toBe(false)
  },
)

test.for([
  ['the browser cannot parse the scripts', spoilScripts],
  ['a proxy has changed the scripts', changeScripts],
  ['the scripts cannot be loaded', (page: Page) => page.route(SCRIPTS, (it) => it.abort())],
] as const)(
  'if %s, a page that they fill says so, and leads to the wall',
  async ([_what, before], { journey }) => {
    const page = await journey.visit({
      path: '/settings',
      waitsForScripts: false,
      expectedErrors: /./,
      before,
    })
    await tap(noScripts(page).getByRole('link', { name: 'читать стену' }))
    await page.waitForURL(`${journey.url}/`)
  },
)

test('the sentence on scripts waits for a slow line, and moves nothing', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Запись для всех')
  const page = await journey.visit({ before: recordShifts })
  for (const path of ['/', '/settings']) {
    const scripts = await holdCalls(page, SCRIPTS)
    await page.goto(journey.url + path, { waitUntil: 'commit' })
    await page.locator('html[data-static=loading]').waitFor()
    const delay = await noScripts(page).evaluate((it) => getComputedStyle(it).animationDelay)
    expect([delay, await noScripts(page).isVisible()]).toEqual(['20s', false])
    await noScripts(page).evaluate((it) => it.getAnimations()[0]?.finish())
    await noScripts(page).waitFor()
    scripts.letGo()
    await noScripts(page).waitFor({ state: 'hidden' })
    expect(await sumOfShifts(page)).toBeLessThan(0.01)
  }
})

test('browsers of 2019 can parse the script that detects them', async ({ journey }) => {
  const html = await (await fetch(journey.url)).text()
  const script = html.match(/<script>(.*?)<\/script>/s)?.[1] ?? ''
  expect(script).toContain('AbortSignal')
  const writtenFor = async (target: string) =>
    (await transformWithOxc(script, 'inline.js', { target })).code
  expect(await writtenFor('esnext')).toBe(await writtenFor('es2019'))
})

test('a browser that lacks features of 2024 can do everything', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Запись для всех: https://example.org/ и http://[сломано')
  const page = await journey.visit({ before: (it) => takeAway(it, NEWER_THAN_2024) })
  expect(await page.evaluate(() => 'parse' in URL)).toBe(false)
  await page.getByRole('link', { name: 'example.org', exact: true }).waitFor()
  await tap(signInButton(page))
  await signInThrough(journey, page, petr.email)
  await submitPost(page, 'Пишу и отсюда')
  await postWith(page, 'Пишу и отсюда').waitFor()
  const heart = like(postWith(page, 'Запись для всех'))
  await tap(heart)
  await heart.and(page.locator('[aria-pressed=true]')).waitFor()
  expect(await noScripts(page).isVisible()).toBe(false)
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
  expect(await page.locator('html[data-static]').count()).toBe(0)
  await tap(signInButton(page))
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

/** Changes pages as Cloudflare's Rocket Loader does, whose own script our policy stops. */
async function changeScripts(page: Page): Promise<void> {
  await changePages(page, async (response) => ({
    body: (await response.text()).replaceAll(
      /<script(?=[ >])(?! type="application)/g,
      '$& type="1a-module"',
    ),
  }))
}

async function forbidScripts(page: Page): Promise<void> {
  await changePages(page, async (response) => ({
    headers: { ...response.headers(), 'content-security-policy': "script-src 'none'" },
  }))
}

type Change = (
  response: APIResponse,
) => Promise<{ body?: string; headers?: Record<string, string> }>

async function changePages(page: Page, change: Change): Promise<void> {
  await page.route(/^[^?]*\/(settings)?$/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, ...(await change(response)) })
  })
}
