import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { tap, write } from './testing/hands.ts'
import { type Journey, test, type Visit } from './testing/journey.ts'
import { recordShifts, sumOfShifts, untilPainted } from './testing/layout-shifts.ts'
import { like, postTexts, postWith } from './testing/page/feed.ts'
import { readOn, styleOf } from './testing/page/layout.ts'
import { goOffline, holdCalls, slowDown, spareBytes } from './testing/page/network.ts'
import { profileLink } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

const SCRIPTS = /\/assets\/.*\.js$/

let talk: Post
test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 25)
  talk = await journey.publish(olga, 'Разговор')
})

/** Opens a page with data saving on, or on a slow line, and records its requests. */
async function readSparingly(journey: Journey, visit: Visit = {}, spare = spareBytes) {
  const requested: string[] = []
  const page = await journey.visit({
    waitsForScripts: false,
    ...visit,
    before: async (it) => {
      await spare(it)
      it.on('request', (request) => requested.push(new URL(request.url()).pathname))
      await visit.before?.(it)
    },
  })
  await page.waitForLoadState('load')
  return { page, requested }
}

test.for([
  ['a data saver', spareBytes],
  ['a 3G line', (page: Page) => slowDown(page, 400, 50_000)],
] as const)(
  'for %s nothing but the page loads until it is used',
  async ([_, spare], { journey }) => {
    const before = (it: Page) => it.clock.install()
    const { page, requested } = await readSparingly(journey, { before }, spare)
    await page.clock.runFor(60_000)
    expect(requested.filter((path) => /\/api\/|\.js$|\.woff2$|\.css$/.test(path))).toEqual([])
    expect(await page.locator('[data-static]').count()).toBe(1)
  },
)

test('only scrolling past the first screen loads scripts and posts', async ({ journey }) => {
  const viewport = { width: 390, height: 500 }
  const { page, requested } = await readSparingly(journey, { hasTouch: true, viewport })
  await page.evaluate(() => scrollTo(0, 300))
  await untilPainted(page)
  expect(requested.some((path) => SCRIPTS.test(path))).toBe(false)
  await page.evaluate(() => scrollTo(0, 700))
  await whenScriptsRun(page)
  await page.evaluate(() => scrollTo(0, 1100))
  await expect.poll(() => postTexts(page)).toContain('Запись 10')
})

test.for([
  ['a menu in search results', '/search?q=Разговор', 'Ещё', 'menu', 'Ещё'],
  ['the foot of a page', '/about', 'Светлая тема', 'button', 'Тёмная тема'],
] as const)(
  'the first tap, on %s, loads the scripts and takes effect',
  async ([, path, name, shown, title], { journey }) => {
    const { page } = await readSparingly(journey, { hasTouch: true, path })
    await page.getByRole('button', { name }).first().tap()
    await page.getByRole(shown, { name: title }).first().waitFor()
    expect(await page.locator('[data-held]').count()).toBe(0)
  },
)

test.for([
  ['key', (page: Page) => page.keyboard.press('Tab')],
  ['move of the mouse', (page: Page) => page.mouse.move(200, 300, { steps: 2 })],
] as const)('the first %s loads the scripts, and nothing moves', async ([_, use], { journey }) => {
  const { page } = await readSparingly(journey, { before: recordShifts })
  await untilPainted(page)
  await use(page)
  await whenScriptsRun(page)
  expect(await sumOfShifts(page)).toBeLessThan(0.01)
})

test('links, cards, forms and the way back work without the scripts', async ({ journey, olga }) => {
  // High enough that nothing needs scrolling.
  const viewport = { width: 390, height: 2500 }
  const { page, requested } = await readSparingly(journey, { hasTouch: true, viewport })
  await page.getByRole('link', { name: 'Дальше' }).tap()
  await page.waitForURL(/cursor=/)
  await page.goBack()
  await postWith(page, 'Разговор').getByText('Разговор').tap()
  await page.waitForURL(`**/posts/${talk.id}`)
  await page.getByRole('link', { name: olga.username }).first().tap()
  await page.waitForURL(`**/users/${olga.username}`)
  await page.goto(`${journey.url}/search`)
  await page.getByRole('searchbox').tap()
  await page.keyboard.type('Разговор')
  await page.keyboard.press('Enter')
  await page.waitForURL(/search\?q=/)
  await postWith(page, 'Разговор').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/posts/${talk.id}`)
  expect(requested.filter((path) => SCRIPTS.test(path))).toEqual([])

  await page.getByRole('button', { name: 'Назад' }).tap()
  await page.waitForURL(/search\?q=/)
})

test('what a browser extension adds works before the scripts load', async ({ journey }) => {
  // React renders the changed page anew.
  const expectedErrors = /Minified React error #418/
  const { page } = await readSparingly(journey, { expectedErrors })
  await page.evaluate(() => {
    const button = document.createElement('button')
    button.textContent = 'Перевести'
    button.onclick = () => button.replaceWith('Переведено')
    const host = document.createElement('x-extension')
    const field = document.createElement('input')
    host.attachShadow({ mode: 'closed' }).append(field)
    document.querySelector('article')?.append(host)
    document.body.append(button)
    field.focus()
  })
  await page.keyboard.press('Enter')
  await tap(page.getByRole('button', { name: 'Перевести' }))
  await page.getByText('Переведено').waitFor()
  expect(page.url()).toBe(`${journey.url}/`)
})

test('taps before the scripts load wait, and take effect once', async ({ journey, olga }) => {
  const { page, sendScripts } = await visitBeforeScripts(journey, { as: olga, before: spareBytes })
  const hearts = like(page)
  expect(await styleOf(hearts.first(), 'animation-name')).not.toBe('waits')
  // A second tap on a heart takes the first one back.
  for (const at of [0, 1, 0, 2, 0, 1]) await tap(hearts.nth(at))
  expect(await page.locator('button[data-held]').count()).toBe(2)
  expect(await styleOf(hearts.first(), 'animation-name')).toBe('waits')
  sendScripts()
  await whenScriptsRun(page)
  const liked = 'SELECT text FROM posts JOIN likes ON post_id = posts.id ORDER BY text'
  const kept = [{ text: 'Запись 24' }, { text: 'Разговор' }]
  await expect.poll(() => journey.rows(liked)).toEqual(kept)
  expect(await page.locator('[data-held]').count()).toBe(0)
})

test('a post pressed before the scripts load shows at once that it waits', async ({ journey }) => {
  const { page } = await visitBeforeScripts(journey, {})
  const next = await holdCalls(page, /\/posts\/\d+$/)
  await page.evaluate(() =>
    addEventListener('animationstart', ({ target, animationName }) => {
      console.log((target as Element).tagName, animationName)
    }),
  )
  const shown = page.waitForEvent('console', (message) => message.text() === 'ARTICLE waits')
  await postWith(page, 'Разговор').getByText('Разговор').click({ noWaitAfter: true })
  await next.asked
  // The page cannot be queried while the navigation is pending.
  await shown
  next.letGo()
  // Its scripts are held too, and may be requested before it has loaded.
  await page.waitForURL(`**/posts/${talk.id}`, { waitUntil: 'commit' })
})

test('a private page has its frame before the scripts, which stays', async ({ journey, olga }) => {
  const { page, sendScripts } = await visitBeforeScripts(journey, { as: olga, path: '/settings' })
  const bar = page.getByRole('navigation', { name: 'Разделы' })
  await page.getByRole('banner').getByRole('button', { name: 'Назад' }).waitFor()
  await bar.getByRole('button', { name: 'Новая запись' }).waitFor()
  await untilPainted(page)
  sendScripts()
  await page.getByRole('heading', { level: 1, name: 'Настройки' }).waitFor()
  await page.getByRole('button', { name: 'Выйти' }).waitFor()
  await profileLink(page).waitFor()
  expect(await sumOfShifts(page)).toBeLessThan(0.001)
})

test('a press takes effect on a page that is rendered anew further down', async ({ journey }) => {
  const page = await journey.visit()
  await readOn(page, 25)
  await page.getByRole('article').nth(20).scrollIntoViewIfNeeded()
  const scripts = await holdCalls(page, SCRIPTS)
  await page.reload({ waitUntil: 'domcontentloaded' })
  await tap(page.getByRole('button', { name: 'Войти' }))
  scripts.letGo()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
})

const keepAway = (missing: RegExp) => (page: Page) => page.route(missing, (route) => route.abort())
const breakApp = (page: Page) =>
  page.addInitScript(() => {
    performance.getEntriesByType = () => {
      throw new Error('no timing')
    }
  })

test.for([
  ['the scripts cannot be loaded', keepAway(SCRIPTS)],
  ['a page’s own style sheet cannot be loaded', keepAway(/\/lazy-styles-.*\.css$/)],
  ['the app fails to start', breakApp],
] as const)(
  'if %s, the page stays readable, without controls that would do nothing',
  async ([, before], { journey, olga }) => {
    const { page } = await readSparingly(journey, {
      hasTouch: true,
      path: `/users/${olga.username}`,
      expectedErrors: /./,
      before,
    })
    await like(postWith(page, 'Разговор')).tap()
    await page.locator('[data-static=""]').waitFor()
    expect(await page.locator('button:visible').count()).toBe(0)
    await postWith(page, 'Разговор').locator('time').tap()
    await page.waitForURL(`**/posts/${talk.id}`)
  },
)

test('the buttons return with the network, unless a text was typed', async ({ journey }) => {
  const path = '/search?q=Разговор'
  const { page } = await readSparingly(journey, { hasTouch: true, path, expectedErrors: /./ })
  const heart = like(postWith(page, 'Разговор'))
  await goOffline(page)
  await heart.tap()
  await page.locator('[data-static=""]').waitFor()
  await write(page.getByRole('searchbox'), 'Слова')
  await page.evaluate(() => {
    const later = (resolve: () => void) =>
      addEventListener('online', () => setTimeout(resolve, 300))
    Reflect.set(window, 'isBack', new Promise<void>(later))
  })
  await page.context().setOffline(false)
  await page.evaluate(() => Reflect.get(window, 'isBack'))
  expect(await page.getByRole('searchbox').inputValue()).toBe('Слова')
  await write(page.getByRole('searchbox'), 'Разговор')
  await goOffline(page)
  await page.context().setOffline(false)
  await heart.tap()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
})

async function visitBeforeScripts(journey: Journey, visit: Visit) {
  let sendScripts = () => {}
  const page = await journey.visit({
    ...visit,
    waitsForScripts: false,
    before: async (it) => {
      await visit.before?.(it)
      await recordShifts(it)
      sendScripts = (await holdCalls(it, SCRIPTS)).letGo
    },
  })
  return { page, sendScripts }
}
