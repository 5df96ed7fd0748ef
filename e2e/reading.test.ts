import { expect } from 'vitest'
import { enterDigits, tap } from './testing/hands.ts'
import { DESKTOP, test } from './testing/journey.ts'
import { like, openMenu, postWith } from './testing/page/feed.ts'
import { boxOf, styleOf } from './testing/page/layout.ts'
import { sendNewEmail, signInDialog } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('a clock that is a year ahead shows the right age of a post', async ({ journey, olga }) => {
  await journey.publish(olga, 'Только что')
  const page = await journey.visit({
    before: (it) =>
      it.addInitScript(() => {
        const now = Date.now.bind(Date)
        Date.now = () => now() + 365 * 86_400_000
      }),
  })
  const time = postWith(page, 'Только что').locator('time')
  for (const reload of [false, true]) {
    if (reload) await page.reload()
    await whenScriptsRun(page)
    expect(await time.textContent()).toBe('сейчас')
  }
})

test('the whole card opens the post, selecting its text does not', async ({ journey, olga }) => {
  const post = await journey.publish(olga, 'Откройте меня, но дайте выделить')
  const page = await journey.visit()
  const card = postWith(page, 'Откройте меня')
  await page.evaluate(() => document.fonts.ready)
  const { left, top, height } = await boxOf(card.getByText('Откройте меня'))
  await page.mouse.move(left + 1, top + height / 2)
  await page.mouse.down()
  await page.mouse.move(left + 150, top + height / 2, { steps: 5 })
  await page.mouse.up()
  expect(await page.evaluate(() => String(getSelection()))).toContain('Откройте')
  expect(new URL(page.url()).pathname).toBe('/')
  expect(await page.evaluate(() => history.length)).toBe(2)
  // A click on the card ends the selection, and the next one opens the post.
  await card.click({ position: { x: 20, y: 90 } })
  expect(await page.evaluate(() => getSelection()?.isCollapsed)).toBe(true)
  expect(await page.evaluate(() => history.length)).toBe(2)

  await card.click({ position: { x: 20, y: 90 } })
  await page.waitForURL(`**/posts/${post.id}`)
  await page.getByRole('heading', { name: 'Запись' }).waitFor()
  await expect.poll(() => page.title()).toEqual(`${olga.username}: ${post.text} - Вслух`)
  // On a slow device the second of two fast taps comes before the first has an effect.
  await page.getByRole('button', { name: 'Назад' }).evaluate((button: HTMLElement) => {
    button.click()
    button.click()
  })
  await page.getByRole('heading', { name: 'Стена' }).waitFor()

  await like(card).click({ button: 'middle' })
  for (const target of [card.getByText('Откройте меня'), card.locator('time')]) {
    const tab = page.context().waitForEvent('page')
    await target.click({ button: 'middle' })
    const opened = await tab
    await whenScriptsRun(opened)
    await opened.getByRole('button', { name: 'Ответить' }).first().waitFor()
    expect(opened.url()).toBe(`${journey.url}/posts/${post.id}`)
    expect(new URL(page.url()).pathname).toBe('/')
  }
  // The heart opened no tab, which would be here by now.
  expect(page.context().pages().length).toBe(3)
  const time = card.locator('time')
  expect(await time.getAttribute('datetime')).toBe(new Date(post.created_at * 1000).toISOString())
  expect(await time.getAttribute('title')).toMatch(/^\d{1,2} [а-я]+ в \d{2}:\d{2}$/)
})

test('addresses are links, markup and scripts stay text', async ({ journey, olga, petr }) => {
  const address = `${journey.url}/нигде?a=1`
  await journey.publish(olga, `Читал здесь: ${address}. И тут (http://example.com)`)
  const hostile = [
    '<script>document.title = "взломано"</script>',
    '<img src=x onerror="document.title=\'взломано\'">',
    'javascript:document.title="взломано"',
    '[нажми](javascript:alert(1)) <a href="javascript:alert(1)">сюда</a>',
  ]
  for (const text of hostile) await journey.publish(petr, text)
  // A violation of the page's policy would be an error on its console, which fails the test.
  const page = await journey.visit()
  const links = postWith(page, 'Читал здесь').locator('a[target=_blank]')
  // An address with a host like this one becomes a link only after hydration.
  const copied = [new URL(address).href.replace(/%.*(?=\?)/, 'нигде'), 'http://example.com/']
  await expect.poll(() => links.allInnerTexts()).toEqual(copied)
  const shown = [address.slice('http://'.length), 'example.com']
  for (const name of shown) await page.getByRole('link', { name, exact: true }).waitFor()
  const tab = page.context().waitForEvent('page')
  await tap(links.first())
  const opened = await tab
  await opened.getByText('Страница не существует').waitFor()
  expect(await opened.evaluate(() => window.opener)).toBe(null)
  expect(new URL(page.url()).pathname).toBe('/')

  for (const text of hostile) await page.getByText(text, { exact: true }).waitFor()
  await tap(page.getByText(hostile[0] ?? '', { exact: true }))
  await page.waitForURL('**/posts/*')
  await page.getByText(hostile[0] ?? '', { exact: true }).waitFor()
  await expect.poll(() => page.title()).toEqual(`${petr.username}: ${hostile[0]} - Вслух`)
  expect(await page.locator('main script, main img, [href^="javascript:"]').count()).toBe(0)
})

test('print is light and plain, forced colours keep the borders', async ({ journey, olga }) => {
  const { id } = await journey.publish(olga, 'На бумаге')
  const answer = await journey.reply(olga, id, 'Мой ответ')
  const page = await journey.visit({ path: `/posts/${answer.id}`, viewport: DESKTOP })
  await page.emulateMedia({ media: 'print' })
  const paper = () => styleOf(page.locator('body'), 'background-color')
  await expect.poll(paper).toBe('rgb(251, 249, 246)')
  expect(await page.locator('button:visible, nav:visible, input:visible').count()).toBe(0)
  const articles = await page.getByRole('article').all()
  expect(articles).toHaveLength(2)
  for (const article of articles) expect(await styleOf(article, 'break-inside')).toBe('avoid')
  const heading = page.getByRole('banner').locator('h1, a').filter({ visible: true })
  expect(await heading.allTextContents()).toEqual(['Ответ'])

  await page.emulateMedia({ media: 'screen', forcedColors: 'active' })
  const signIn = page.getByRole('button', { name: 'Войти' })
  expect(await styleOf(signIn, 'border-top-style')).toBe('solid')
  const menu = await openMenu(postWith(page, 'Мой ответ'))
  const item = menu.getByRole('menuitem', { name: 'Пожаловаться' })
  await item.hover()
  const ground = await styleOf(menu, 'background-color')
  expect(await styleOf(item, 'background-color')).not.toBe(ground)
  await page.keyboard.press('Escape')

  await tap(signIn)
  await sendNewEmail(page, 'forced@example.org')
  const { dialog, code } = signInDialog(page)
  await enterDigits(code, '12')
  // The digits show only in their cells.
  expect(await styleOf(code, 'color')).toBe('rgba(0, 0, 0, 0)')
  expect(await styleOf(dialog.locator('[data-active]'), 'outline-style')).toBe('solid')
})
