import { expect } from 'vitest'
import { authorPath } from '../contract/pages.ts'
import { DESKTOP, test } from './testing/journey.ts'
import { openMenu, postWith, styleOf } from './testing/page-actions.ts'
import { sendNewEmail, signInDialog } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('the whole card opens the post, and so does its time, but selecting its text does not; the middle button opens it in a new tab', async ({
  journey,
  olga,
}) => {
  const post = await journey.publish(olga, 'Откройте меня, но дайте выделить')
  const page = await journey.visit()
  const card = postWith(page, 'Откройте меня')
  await page.evaluate(() => document.fonts.ready)
  const box = await card.getByText('Откройте меня').boundingBox()
  if (!box) throw new Error('The text is nowhere')
  await page.mouse.move(box.x + 1, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + 150, box.y + box.height / 2, { steps: 5 })
  await page.mouse.up()
  expect(await page.evaluate(() => String(getSelection()))).toContain('Откройте')
  expect(new URL(page.url()).pathname).toBe('/')
  expect(await page.evaluate(() => history.length)).toBe(2)
  await page.evaluate(() => getSelection()?.removeAllRanges())

  await card.click({ position: { x: 20, y: 90 } })
  await page.waitForURL(`**/posts/${post.id}`)
  await page.getByRole('heading', { name: 'Запись' }).waitFor()
  await expect.poll(() => page.title()).toEqual(`${olga.username}: ${post.text} - Вслух`)
  await page.getByRole('button', { name: 'Назад' }).click()
  await page.getByRole('heading', { name: 'Стена' }).waitFor()

  for (const target of [card.getByText('Откройте меня'), card.locator('time')]) {
    const tab = page.context().waitForEvent('page')
    await target.click({ button: 'middle' })
    const opened = await tab
    await whenScriptsRun(opened)
    await opened.getByRole('button', { name: 'Ответить' }).first().waitFor()
    expect(opened.url()).toBe(`${journey.url}/posts/${post.id}`)
    expect(new URL(page.url()).pathname).toBe('/')
  }
  await card.getByRole('button', { name: 'Нравится' }).click({ button: 'middle' })

  const time = card.locator('time')
  expect(await time.getAttribute('datetime')).toBe(new Date(post.created_at * 1000).toISOString())
  expect(await time.getAttribute('title')).toMatch(/^\d{1,2} [а-я]+ в \d{2}:\d{2}$/)
  await journey.sql.query(`UPDATE posts SET created_at = created_at - interval '1 hour'`)
  // The wall may still be cached.
  await page.goto(`${journey.url}${authorPath(olga.username)}`)
  await card.getByRole('link', { name: '1 час назад' }).getByText('1 ч.', { exact: true }).waitFor()
  // The button opened no tab, which would be here by now.
  expect(page.context().pages().length).toBe(3)
})

test('addresses in a text are links, to a tab without an opener', async ({ journey, olga }) => {
  const address = `${journey.url}/нигде?a=1`
  await journey.publish(olga, `Читал здесь: ${address}. И тут (http://example.com)`)
  const page = await journey.visit()
  const links = postWith(page, 'Читал здесь').locator('a[target=_blank]')
  // An address with a host like this one becomes a link only after hydration.
  await expect
    .poll(() => links.allInnerTexts())
    .toEqual([address.slice('http://'.length), 'example.com'])
  const tab = page.context().waitForEvent('page')
  await links.first().click()
  const opened = await tab
  await opened.getByText('Страница не существует').waitFor()
  expect(await opened.evaluate(() => window.opener)).toBe(null)
  expect(new URL(page.url()).pathname).toBe('/')
})

test('markup and javascript: addresses stay text and never run', async ({ journey, petr }) => {
  const hostile = [
    '<script>document.title = "взломано"</script>',
    '<img src=x onerror="document.title=\'взломано\'">',
    'javascript:document.title="взломано"',
    '[нажми](javascript:alert(1)) <a href="javascript:alert(1)">сюда</a>',
  ]
  for (const text of hostile) await journey.publish(petr, text)
  const violations: string[] = []
  const page = await journey.visit({
    before: async (page) => {
      await page.exposeFunction('reportViolation', (what: string) => violations.push(what))
      await page.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (event) =>
          Reflect.get(window, 'reportViolation')(event.violatedDirective),
        )
      })
    },
  })
  for (const text of hostile) await page.getByText(text, { exact: true }).waitFor()
  await page.getByText(hostile[0] ?? '', { exact: true }).click()
  await page.waitForURL('**/posts/*')
  await page.getByText(hostile[0] ?? '', { exact: true }).waitFor()
  await expect.poll(() => page.title()).toEqual(`${petr.username}: ${hostile[0]} - Вслух`)
  expect(await page.locator('main script, main img, [href^="javascript:"]').count()).toBe(0)
  expect(violations).toEqual([])
})

test('in forced colours, buttons have borders, and the digits of a code show only in their cells', async ({
  journey,
  petr,
}) => {
  await journey.publish(petr, 'Чужая запись')
  const page = await journey.visit({ forcedColors: 'active' })
  const signIn = page.getByRole('button', { name: 'Войти' })
  expect(await styleOf(signIn, 'border-top-style')).toBe('solid')
  await openMenu(postWith(page, 'Чужая запись'))
  const item = page.getByRole('menuitem', { name: 'Пожаловаться' })
  await item.hover()
  const menuGround = await styleOf(page.getByRole('menu'), 'background-color')
  expect(await styleOf(item, 'background-color')).not.toBe(menuGround)
  await page.keyboard.press('Escape')

  await signIn.click()
  await sendNewEmail(page, 'forced@example.org')
  const { dialog, code } = signInDialog(page)
  await code.fill('12')
  expect(await styleOf(code, 'color')).toBe('rgba(0, 0, 0, 0)')
  const cells = dialog.locator('[data-active]')
  expect(await styleOf(cells, 'outline-style')).toBe('solid')
})

test('a printed page is light, has no controls and splits no post', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.publish(petr, 'И под ней')
  const { id } = await journey.publish(petr, 'На бумаге')
  const answer = await journey.reply(olga, id, 'Мой ответ')
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  for (const path of ['/', `/posts/${answer.id}`]) {
    await page.emulateMedia({ media: 'screen' })
    await page.goto(journey.url + path)
    await page.getByText('Мой ответ').or(page.getByText('На бумаге')).first().waitFor()
    await page.emulateMedia({ media: 'print' })
    await expect
      .poll(() => styleOf(page.locator('body'), 'background-color'))
      .toBe('rgb(251, 249, 246)')
    expect(await page.locator('button:visible, nav:visible, input:visible').count()).toBe(0)
    const articles = page.getByRole('article')
    expect(await articles.count()).toBeGreaterThan(1)
    for (const article of await articles.all()) {
      expect(await styleOf(article, 'break-inside')).toBe('avoid')
    }
  }
})
