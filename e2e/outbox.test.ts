import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, type Journey, test } from './testing/journey.ts'
import { startPost, storedTexts, submitPost, textField } from './testing/page/compose.ts'
import { chooseFromMenu, postWith } from './testing/page/feed.ts'
import {
  goOffline,
  goOnline,
  holdCalls,
  refuseOnce,
  untilPreloaded,
} from './testing/page/network.ts'
import { closeByKey, toast } from './testing/page/overlays.ts'
import { openTab, restoreFromCache } from './testing/page/tab.ts'

const PUBLICATION = '**/api/v1/posts'
const WAITS_FOR_SERVER = 'Сервер не отвечает. Текст сохранён, отправим сами'

test('a text waits for a limit through a reload, or in another tab', async ({ journey, olga }) => {
  const first = await journey.visit({ as: olga, before: (page) => page.clock.install() })
  const message = 'Записи нельзя публиковать так часто: следующая — через 0:30'
  await refuseOnce(first, PUBLICATION, message, 30)
  const dialog = await submitPost(first, 'Переживёт обновление')
  await dialog.getByText('Записи нельзя публиковать так часто. Отправим через').waitFor()
  await first.reload()
  await dialog.getByText(/Отправим через 0:[0-2]/).waitFor()
  expect(await textField(dialog).inputValue()).toBe('Переживёт обновление')

  const second = await openTab(first)
  await row(second, /^1 запись уйдёт через 0:\d\d\./).waitFor()
  await first.close()
  await second.clock.fastForward(40_000)
  await toast(second, 'Опубликовано').waitFor()
  await row(second, /запись/).waitFor({ state: 'detached' })
  expect(await published(journey, 'Переживёт обновление')).toBe(1)
})

test('texts wait for the network, and are sent in their order', async ({ journey, olga }) => {
  await journey.publish(olga, 'Было опечтано')
  const page = await journey.visit({ as: olga })
  await untilPreloaded(page)
  await chooseFromMenu(postWith(page, 'Было опечтано'), 'Изменить')
  const edit = page.getByRole('dialog', { name: 'Изменение записи' })
  await write(textField(edit), 'Было опечатано')
  await goOffline(page)
  await page.keyboard.press('Control+Enter')
  await edit.getByText('Нет связи. Отправим, когда она вернётся').waitFor()
  await closeByKey(edit)
  await row(page, '1 запись ждёт связи.').waitFor()
  for (const text of ['Первая в метро', 'Вторая в метро']) {
    // The former text is no longer a draft.
    const dialog = await submitPost(page, text)
    await dialog.getByText('Нет связи').waitFor()
    await closeByKey(dialog)
  }
  await row(page, '3 записи ждут связи.').waitFor()
  await tap(postWith(page, 'Было опечтано').getByText('Было опечтано'))
  await page.getByRole('textbox', { name: 'Ваш ответ' }).waitFor()
  await page.goBack()

  await page.context().setOffline(false)
  await postWith(page, 'Вторая в метро').waitFor()
  await postWith(page, 'Было опечатано').waitFor()
  await row(page, /запис/).waitFor({ state: 'detached' })
  const posts = await journey.rows('SELECT text FROM posts ORDER BY id')
  const texts = ['Было опечатано', 'Первая в метро', 'Вторая в метро']
  expect(posts).toEqual(texts.map((text) => ({ text })))
})

test('a tab whose scripts could not be loaded shows what waits once the network is back', async ({
  journey,
  olga,
}) => {
  const first = await journey.visit({ as: olga })
  const context = first.context()
  await context.route(PUBLICATION, (route) => route.abort())
  await closeByKey(await submitPost(first, 'Из подвала'))
  await row(first, '1 запись ждёт связи.').waitFor()
  const scripts = '**/assets/dialogs-*.js'
  await context.route(scripts, (route) => route.abort())
  const second = await openTab(first)
  await untilPreloaded(second)
  await goOffline(second)
  await second.getByText('Нет связи. Читать и писать можно').waitFor()
  await context.unroute(scripts)
  await goOnline(second)
  await row(second, '1 запись ждёт связи.').waitFor()
  // As if another tab had sent it while this one was in the cache.
  await first.evaluate(() => {
    for (const key of Object.keys(localStorage))
      if (/^text /.test(key)) localStorage.removeItem(key)
  })
  await restoreFromCache(first)
  await row(first, /запись/).waitFor({ state: 'detached' })
})

test('two tabs share one outbox, and a text is sent once', async ({ journey, olga }) => {
  const first = await journey.visit({ as: olga })
  const context = first.context()
  await context.route(PUBLICATION, (route) => route.abort())
  await write(textField(await startPost(first)), 'Одна на двоих')
  const second = await openTab(first)
  const opened = await startPost(second)
  expect(await textField(opened).inputValue()).toBe('Одна на двоих')
  const sent: string[] = []
  context.on('requestfinished', (request) => {
    if (request.method() === 'POST' && /\/api\/v1\/posts$/.test(request.url())) sent.push('post')
  })
  await first.bringToFront()
  await first.keyboard.press('Control+Enter')
  await first.getByRole('dialog').getByText(WAITS_FOR_SERVER).waitFor()
  await opened.waitFor({ state: 'detached' })
  await first.keyboard.press('Escape')
  for (const tab of [first, second]) await row(tab, '1 запись ждёт связи.').waitFor()
  await second.bringToFront()
  await tap(second.getByRole('button', { name: 'Открыть' }))
  await opened.getByText(WAITS_FOR_SERVER).waitFor()
  expect(await textField(opened).inputValue()).toBe('Одна на двоих')

  await context.unroute(PUBLICATION)
  await opened.waitFor({ state: 'detached' })
  for (const tab of [first, second]) await row(tab, /запись/).waitFor({ state: 'detached' })
  expect([sent, await published(journey, 'Одна на двоих')]).toEqual([['post'], 1])
})

test('a text that is stopped is a draft, which no clearing loses', async ({ journey }) => {
  const page = await journey.visit({ as: await journey.signUp(), viewport: DESKTOP })
  const other = await openTab(page)
  await page.context().route(PUBLICATION, (route) => route.abort())
  const dialog = await submitPost(page, 'Ещё подумаю')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await closeByKey(dialog)
  await tap(page.getByRole('button', { name: 'Открыть' }))
  // The button that sends is under the second click.
  await dialog.getByRole('button', { name: 'Не отправлять' }).dblclick()
  await dialog.getByText(WAITS_FOR_SERVER).waitFor({ state: 'detached' })
  await write(textField(dialog), 'Первая из двух')
  await page.keyboard.press('Control+Enter')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await closeByKey(dialog)
  await write(textField(await startPost(page)), 'Вторая из двух')
  await expect.poll(() => storedTexts(page)).toEqual(['Вторая из двух', 'Первая из двух'])
  await page.evaluate(() =>
    addEventListener('storage', ({ key }) => {
      if (key === null) document.documentElement.dataset.cleared = ''
    }),
  )
  await other.evaluate(() => localStorage.clear())
  await page.locator('html[data-cleared]').waitFor()
  await expect.poll(() => storedTexts(page)).toHaveLength(2)
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')

  await page.goto(`${journey.url}/settings`)
  const logOut = page.getByRole('button', { name: 'Выйти', exact: true })
  await tap(logOut)
  const question = page.getByRole('alert').getByText('2 неотправленных текста пропадут')
  await question.waitFor()
  await tap(page.getByRole('button', { name: 'Остаться' }))
  await question.waitFor({ state: 'detached' })
  expect(await storedTexts(page)).toHaveLength(2)
  await tap(logOut)
  await tap(page.getByRole('button', { name: 'Выйти всё равно' }))
  await toast(page, 'Вы вышли').waitFor()
  expect(await storedTexts(page)).toEqual([])
})

test('a text that a long limit refuses shows on every page', async ({ journey, olga, petr }) => {
  await journey.publish(petr, 'На что отвечают')
  const page = await journey.visit({ as: olga, before: (it) => it.clock.install() })
  const gate = Promise.withResolvers<void>()
  const message = 'В первые сутки можно ответить не так много: следующий ответ — через 2 ч 30 мин'
  const json = { code: 'TOO_MANY_REQUESTS', message }
  await page.route('**/replies', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await gate.promise
    await route.fulfill({ status: 429, headers: { 'retry-after': '9000' }, json })
  })
  await tap(postWith(page, 'На что отвечают').getByRole('button', { name: 'Ответить' }))
  const dialog = page.getByRole('dialog', { name: 'Ответ' })
  await write(textField(dialog), 'Не дошло')
  await page.keyboard.press('Control+Enter')
  await closeByKey(dialog)
  gate.resolve()
  const refusal =
    /^1 запись не ушла: В первые сутки можно ответить не так много\. Можно будет \d+ \S+ в \d+:\d\d\./
  await row(page, refusal).waitFor()
  await page.goto(`${journey.url}/settings`)
  await row(page, refusal).waitFor()
  await page.clock.fastForward('01:00:00')
  await page.unroute('**/replies')
  await tap(page.getByRole('button', { name: 'Открыть' }))
  const reason = dialog.getByRole('alert').getByText(/: следующий ответ — \d+ \S+ в \d+:\d\d$/)
  await reason.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Не дошло')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await row(page, /запись/).waitFor({ state: 'detached' })
  expect(await published(journey, 'Не дошло')).toBe(1)
})

test('a reply to a deleted post becomes a draft of a post', async ({ journey, olga, petr }) => {
  for (const text of ['Пропадёт первой', 'Пропадёт второй']) await journey.publish(petr, text)
  const page = await journey.visit({ as: olga })
  const dialog = page.getByRole('dialog', { name: 'Ответ' })
  const startReply = (to: string) =>
    tap(postWith(page, to).getByRole('button', { name: 'Ответить' }))
  await startReply('Пропадёт второй')
  await write(textField(dialog), 'Второй ответ')
  await closeByKey(dialog)
  await startReply('Пропадёт первой')
  await write(textField(dialog), 'Первый ответ')
  await journey.emptyWall()
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('alert').getByText('Запись не существует или была удалена').waitFor()
  await closeByKey(dialog)
  await toast(page, 'Запись удалена. Ваш текст — в черновике').waitFor()
  await page.reload()
  await expect.poll(() => storedTexts(page)).toEqual(['Первый ответ\n\nВторой ответ'])
  expect(await textField(await startPost(page)).inputValue()).toBe('Первый ответ\n\nВторой ответ')
})

test('edits of deleted posts become a draft of a post', async ({ journey, olga }) => {
  for (const text of ['Пропадёт первой', 'Пропадёт второй']) await journey.publish(olga, text)
  const page = await journey.visit({ as: olga })
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  const edit = async (text: string, edited: string) => {
    await chooseFromMenu(postWith(page, text), 'Изменить')
    await write(textField(dialog), edited)
  }
  await edit('Пропадёт первой', 'Первая правка')
  await closeByKey(dialog)
  await edit('Пропадёт второй', 'Вторая правка')
  const held = await holdCalls(page, /\/posts\/\d+$/)
  await page.keyboard.press('Control+Enter')
  await held.asked
  await closeByKey(dialog)
  await journey.emptyWall()
  held.letGo()
  const refused = row(page, /^1 запись не ушла: Запись не существует или была удалена/)
  await refused.waitFor()
  await page.reload()
  await toast(page, 'Запись удалена. Ваш текст — в черновике').waitFor()
  await tap(refused.getByRole('button'))
  await dialog.getByText('Запись не существует или была удалена').waitFor()
  await closeByKey(dialog)
  await refused.waitFor({ state: 'detached' })
  expect(await storedTexts(page)).toEqual(['Первая правка\n\nВторая правка'])
})

/** The line above the bottom bar. */
function row(page: Page, text: string | RegExp): Locator {
  return page.getByRole('status').getByRole('paragraph').filter({ hasText: text })
}

async function published(journey: Journey, text: string): Promise<number> {
  return (await journey.rows('SELECT FROM posts WHERE text = $1', [text])).length
}
