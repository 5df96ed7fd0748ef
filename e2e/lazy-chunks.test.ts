import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { feedSwitcher, focusedPost, openMenu, postWith } from './testing/page/feed.ts'
import { goOffline, goOnline, holdCalls, refuseNews } from './testing/page/network.ts'
import { closeByKey, dialogOf } from './testing/page/overlays.ts'
import { clickToLoad } from './testing/page/tab.ts'
import { profileLink } from './testing/sign-in-actions.ts'

/** The console's message about a lazy chunk that could not be loaded. */
const UNFETCHED = /dynamically imported module|Unable to (?:pre)?load/
const SETTINGS = /assets\/settings-/
const DIALOG_FAILED = 'Не получилось загрузить. Проверьте связь и нажмите ещё раз'

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
})

test('a dialog that is not loaded yet shows that it needs the network', async ({ journey }) => {
  const page = await journey.visit({ expectedErrors: UNFETCHED })
  await page.getByRole('article').first().waitFor()
  await goOffline(page)
  const enter = page.getByRole('button', { name: 'Войти' })
  await tap(enter)
  await page.getByRole('status').getByText(DIALOG_FAILED).waitFor()
  await goOnline(page)
  const script = await holdCalls(page, /assets\/sign-in-dialog-.*\.js/)
  await tap(enter)
  const opening = page.getByRole('status', { name: 'Открываем окно' })
  await opening.waitFor()
  // A letter that is meant for the dialog does not act on the page.
  await page.keyboard.press('j')
  expect(await focusedPost(page)).toBeUndefined()
  script.letGo()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  expect(await opening.count()).toBe(0)
  // Without its style sheet a dialog is a block with square corners.
  expect(await dialog.evaluate((it) => getComputedStyle(it).display)).toBe('flex')
  expect(await dialog.evaluate((it) => getComputedStyle(it).borderRadius)).toBe('20px')
})

test('of two menus that are pressed while they load, the last one opens', async ({ journey }) => {
  const page = await journey.visit()
  const chunk = await holdCalls(page, /assets\/menus-/)
  const buttons = page.getByRole('article').getByRole('button', { name: 'Ещё' })
  await tap(buttons.nth(1))
  await chunk.asked
  await tap(buttons.first())
  chunk.letGo()
  await page.getByRole('menuitem').first().waitFor()
  expect(await page.getByRole('menu').count()).toBe(1)
  expect(await buttons.first().getAttribute('aria-expanded')).toBe('true')
})

test('a menu that loads does not open once the focus has moved on', async ({ journey }) => {
  const page = await journey.visit()
  const chunk = await holdCalls(page, /assets\/menus-/)
  const button = page.getByRole('article').getByRole('button', { name: 'Ещё' }).first()
  await button.focus()
  await page.keyboard.press('Enter')
  await chunk.asked
  await page.keyboard.press('Tab')
  expect(await button.getAttribute('aria-expanded')).toBe('false')
})

test('a dialog that opens before the focus is watched closes', async ({ journey }) => {
  const page = await journey.visit()
  const chunk = /assets\/keep-focus-/
  const watch = await holdCalls(page, chunk)
  await page.keyboard.press('?')
  const dialog = await dialogOf(page, 'Сочетания клавиш')
  const answered = page.waitForResponse(chunk)
  watch.letGo()
  // The chunk has run.
  await page.evaluate((url) => import(url), (await answered).url())
  await closeByKey(dialog)
  await page.locator('#content:focus').waitFor()
})

test('once the page is used, posts, menus and signing in open offline', async ({ journey }) => {
  const fetched: string[] = []
  const page = await journey.visit({
    before: async (it) => {
      // The stream's retries would keep the network busy.
      await refuseNews(it)
      it.on('request', (request) => fetched.push(request.url()))
    },
  })
  await postWith(page, 'Запись 12').waitFor()
  await page.waitForLoadState('networkidle')
  const chunks = () => [
    ...new Set(fetched.filter((url) => /\/(?:sign-in-dialog|menus)-/.test(url))),
  ]
  expect(chunks()).toEqual([])
  // Repeats the move, because the page may not listen yet.
  await expect
    .poll(async () => {
      await page.mouse.move(300 + Math.random() * 100, 300)
      return chunks().length
    })
    .toBe(2)
  // Resolves when the chunks that these import have loaded too.
  await page.evaluate((urls) => Promise.all(urls.map((url) => import(url))), chunks())
  await goOffline(page)
  await (await openMenu(postWith(page, 'Запись 12'))).getByRole('menuitem').first().waitFor()
  await page.keyboard.press('Escape')
  await tap(feedSwitcher(page))
  await page.getByRole('option', { name: 'Понравившиеся' }).waitFor()
  await page.keyboard.press('Escape')
  await tap(postWith(page, 'Запись 12').getByText('Запись 12'))
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await postWith(page, 'Запись 12').waitFor()
  await tap(page.getByRole('button', { name: 'Войти' }))
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
})

test('a page that failed to load is loaded when the network is back', async ({ journey, olga }) => {
  const page = await journey.visit({
    as: olga,
    expectedErrors: UNFETCHED,
    // Otherwise it would be preloaded.
    before: (it) => it.route(SETTINGS, (route) => route.abort()),
  })
  await postWith(page, 'Запись 12').waitFor()
  await page.evaluate(() => Reflect.set(window, 'sameDocument', true))
  await goOffline(page)
  await page.unroute(SETTINGS)
  await tap(profileLink(page))
  const failure = page.getByRole('alert').filter({ hasText: 'Не удалось открыть страницу' })
  const refresh = failure.getByRole('button', { name: 'Обновить' })
  await tap(refresh)
  await expect.poll(() => refresh.getAttribute('aria-busy')).toBe(null)
  expect(await failure.count()).toBe(1)

  await page.goBack()
  await postWith(page, 'Запись 11').waitFor()
  await tap(profileLink(page))
  await failure.waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Выйти' }).waitFor()
  expect(await page.evaluate(() => Reflect.get(window, 'sameDocument'))).toBe(true)
})

test('if a new release has removed a chunk, a reload is offered', async ({ journey, olga }) => {
  const gone = /assets\/(settings|dialogs)-/
  const page = await journey.visit({
    as: olga,
    expectedErrors: UNFETCHED,
    before: (it) => it.route(gone, (route) => route.fulfill({ status: 404 })),
  })
  await tap(page.getByRole('button', { name: 'Новая запись' }))
  const said = page.getByRole('status').filter({ hasText: 'Не получилось загрузить' })
  await said.getByRole('button', { name: 'Обновить страницу' }).waitFor()

  await tap(profileLink(page))
  await clickToLoad(page.getByRole('button', { name: 'Обновить', exact: true }))
  await page.unroute(gone)
  await page.reload()
  await page.getByRole('button', { name: 'Выйти' }).waitFor()
})
