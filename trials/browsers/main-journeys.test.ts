import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type BrowserTab, createTab } from '../../e2e/testing/browsers/browser-tab.ts'
import type { DrivenBrowser } from '../../e2e/testing/browsers/driven-browser.ts'
import { launchFirefox } from '../../e2e/testing/browsers/firefox.ts'
import { launchWebKit } from '../../e2e/testing/browsers/webkit.ts'
import { APP_SECRET, createProduct, createProductClient } from '../../e2e/testing/product.ts'
import { openMailbox } from '../../server/testing/mail/mailbox.ts'

const POSTS = 30

const mailbox = await openMailbox()
const product = await createProduct({ APP_SECRET, SMTP_URL: mailbox.url })
afterAll(async () => {
  await product.remove()
  await mailbox.close()
})
await product.start()
const client = createProductClient(product)
const olga = await client.signUp()
for (let n = 1; n <= POSTS; n++) await client.publish(olga, `Запись ${n}, на стене`)

describe.each([
  ['Firefox', launchFirefox],
  ['WebKit', launchWebKit],
])('in %s', (browserName, launch) => {
  let browser: DrivenBrowser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function visit(path = '/'): Promise<BrowserTab> {
    const driver = await browser.openTab()
    onTestFinished(() => driver.close())
    const tab = createTab(driver)
    await tab.goto(product.url + path)
    await tab.waitFor('html:not([data-static])')
    return tab
  }

  test('a visitor reads the wall, opens a post, goes back to the same place and reads upwards', async () => {
    const tab = await visit()
    await tab.waitFor('article', `Запись ${POSTS},`)
    await readOn(tab, POSTS)
    await bringTo(tab, 'Запись 7,', 217)
    await tab.click('article [id$="-text"]', 'Запись 7,')
    await tab.waitFor('h2', 'Ответы')
    await tab.waitFor('article', 'Запись 7,')
    await tab.back()
    await expect.poll(() => isAt(tab, 'Запись 7,', 217)).toBe(true)
    // The page holds the place for three frames.
    for (const _ of [1, 2]) await tab.evaluate(twoFrames)
    for (let by = 90; by <= 1080; by += 90) {
      await tab.evaluate(() => scrollBy(0, -90))
      await expect.poll(() => isAt(tab, 'Запись 7,', 217 + by)).toBe(true)
    }
  })

  test('new replies wait behind a button, and move nothing when they are shown', async () => {
    const id = await newestPost()
    const reply = (n: number) => client.reply(olga, id, `Ответ ${n}, на стене`)
    for (let n = 1; n <= 9; n++) await reply(n)
    const tab = await visit(`/posts/${id}`)
    await bringTo(tab, 'Ответ 6,', 217)
    for (let n = 10; n <= 12; n++) await reply(n)
    await tab.waitFor('button', 'Показать новые ответы')
    await tab.evaluate(() =>
      [...document.querySelectorAll('button')]
        .find((it) => it.textContent?.includes('новые'))
        ?.click(),
    )
    await tab.waitFor('button', 'К новым ответам')
    await tab.evaluate(twoFrames)
    expect(await isAt(tab, 'Ответ 6,', 217)).toBe(true)
    await tab.click('button', 'К новым ответам')
    await tab.waitFor('[role="feed"] > div', 'Вы остановились здесь')
  })

  test('a newcomer signs in by the mailed code, publishes, replies, likes, hears of an answer within 1.5 s and logs out', async () => {
    const tab = await visit()
    await signIn(tab, `${browserName.toLowerCase()}@example.org`)
    await tab.click('button', 'Новая запись')
    await write(tab, `Говорят из ${browserName}.`)

    await tab.click('article [id$="-text"]', `Говорят из ${browserName}.`)
    await tab.waitFor('h2', 'Ответы')
    await tab.click('[data-action="reply"]')
    await write(tab, 'И отвечают.')

    await tab.click('[data-action="like"]')
    await tab.waitFor('[data-action="like"][aria-pressed="true"]')
    await tab.reload()
    await tab.waitFor('[data-action="like"][aria-pressed="true"]')

    const id = await newestPost()
    const since = performance.now()
    await client.reply(olga, id, `Слышу из ${browserName}`)
    await tab.waitFor('a', 'Ответы мне, новых: 1')
    expect(performance.now() - since).toBeLessThan(1500)
    await tab.click('a', 'Ответы мне')
    await tab.click('article [id$="-text"]', `Слышу из ${browserName}`)
    await tab.waitFor('h2', 'Ответы')
    await tab.waitFor('article', `Говорят из ${browserName}.`)

    await tab.goto(product.url)
    await tab.click('article button', 'Ещё')
    await tab.click('[role="menuitem"]', 'Удалить')
    await tab.click('dialog button', 'Удалить')
    await tab.waitFor('article:focus', `Запись ${POSTS},`)

    await tab.click('header a[href="/settings"]')
    await tab.click('button', 'Выйти')
    await tab.waitFor('header button', 'Войти')
    await tab.reload()
    await tab.waitFor('header button', 'Войти')
  })

  test('going back or Escape closes a dialog and stays on the page; a menu opens below its button and returns the focus, and an item of the switcher can be chosen', async () => {
    const tab = await visit()
    for (const close of [() => tab.back(), () => tab.press('Escape')]) {
      await tab.click('header button', 'Войти')
      await tab.waitFor('dialog input[autocomplete^="email"]')
      await close()
      await tab.waitFor('dialog', '', 'gone')
      await tab.waitFor('article', 'на стене')
      expect(await tab.evaluate(() => location.pathname)).toBe('/')
    }

    await tab.click('article button', 'Ещё')
    await tab.waitFor('[role="menu"]:popover-open > :focus', 'Скопировать ссылку')
    expect(await tab.evaluate(menuGap)).toBe(4)
    await tab.press('Escape')
    await tab.waitFor('[role="menu"]', '', 'gone')
    await tab.waitFor('article button:focus', 'Ещё')
    await tab.click('header button', 'Новые')
    await tab.click('[role="option"]', 'Понравившиеся')
    await tab.waitFor('dialog input[autocomplete^="email"]')
  })
})

async function newestPost(): Promise<string> {
  return (await client.read('/posts?limit=1')).posts[0].id
}

async function write(tab: BrowserTab, text: string): Promise<void> {
  await tab.waitFor('dialog textarea:focus')
  await tab.type(text)
  await tab.click('dialog button', 'Опубликовать')
  await tab.waitFor('dialog', '', 'gone')
  await tab.waitFor('article', text)
}

async function signIn(tab: BrowserTab, email: string): Promise<void> {
  await tab.click('header button', 'Войти')
  await tab.click('dialog input[autocomplete^="email"]')
  await tab.type(email)
  await tab.press('Enter')
  await tab.waitFor('dialog p', 'Зарегистрироваться?')
  await tab.click('dialog button', 'Продолжить')
  await tab.click('dialog input[autocomplete="one-time-code"]')
  await tab.type(await mailbox.codeFor(email))
  await tab.waitFor('a', 'Профиль')
}

async function readOn(tab: BrowserTab, count: number): Promise<void> {
  await expect
    .poll(() =>
      tab.evaluate(() => {
        scrollTo(0, document.documentElement.scrollHeight)
        return document.querySelectorAll('article').length
      }),
    )
    .toBeGreaterThanOrEqual(count)
}

/** Scrolls repeatedly, because posts above get their height only when they come near. */
async function bringTo(tab: BrowserTab, text: string, top: number): Promise<void> {
  await expect
    .poll(async () => {
      const now = await tab.evaluate(topOf, text)
      await tab.evaluate((by) => scrollBy(0, by), (now ?? top) - top)
      await tab.evaluate(twoFrames)
      return isAt(tab, text, top)
    })
    .toBe(true)
}

/** Whether a post stands at `top` px; one either way is rounding. */
async function isAt(tab: BrowserTab, text: string, top: number): Promise<boolean> {
  const now = await tab.evaluate(topOf, text)
  return now !== null && Math.abs(now - top) <= 1
}

async function twoFrames(): Promise<void> {
  for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn))
}

function topOf(text: string): number | null {
  const post = [...document.querySelectorAll('article')].find((it) =>
    it.textContent?.includes(text),
  )
  return post ? Math.round(post.getBoundingClientRect().top) : null
}

/** How many px an open menu stands below its button. */
function menuGap(): number {
  const bottom = document.querySelector('[aria-expanded="true"]')?.getBoundingClientRect().bottom
  const top = document.querySelector('[role="menu"]')?.getBoundingClientRect().top
  return Math.round((top ?? 0) - (bottom ?? 0))
}
