import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, PHONE, test } from './testing/journey.ts'
import {
  chooseFromMenu,
  countRequests,
  goOffline,
  openTab,
  postWith,
  REFUSED,
  startPost,
  textField,
  toast,
  untilPreloaded,
} from './testing/page-actions.ts'
import { changeUserInOtherTab, signInThrough } from './testing/sign-in-actions.ts'

const PUBLICATION = '**/api/v1/posts'
const WAITS_FOR_SERVER = 'Сервер не отвечает. Текст сохранён, отправим сами'

test('a text that waits for a limit keeps waiting after a reload, in its dialog, and is sent once', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  await limit(page, 4)
  const dialog = await submit(page, 'Переживёт обновление')
  await dialog.getByText('Записи нельзя публиковать так часто. Отправим через').waitFor()
  const sent = countRequests(page, 'POST', /\/api\/v1\/posts$/)
  await page.reload()
  await dialog.getByText('Отправим через 0:0').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Переживёт обновление')
  await toast(page, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await postWith(page, 'Переживёт обновление').waitFor()
  expect(sent()).toBe(1)
  expect(await published(journey, 'Переживёт обновление')).toBe(1)
})

test('a text whose tab was closed is sent by another tab, which meanwhile shows when', async ({
  journey,
  olga,
}) => {
  const first = await journey.visit({ as: olga })
  await limit(first, 3)
  await (await submit(first, 'Вкладки больше нет')).getByText('Отправим через').waitFor()
  await first.close()
  const second = await openTab(first)
  await row(second, /^1 запись уйдёт через 0:0\d\./).waitFor()
  await toast(second, 'Опубликовано').waitFor()
  await row(second, /запись/).waitFor({ state: 'detached' })
  expect(await published(journey, 'Вкладки больше нет')).toBe(1)
})

test('a text is sent again after an answer that is not the server’s, and after a server error', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const failed = { code: 'INTERNAL_ERROR', message: 'Что-то сломалось. Попробуйте ещё раз' }
  const answers = [
    { status: 500, json: failed },
    ...[200, 403, 429].map((status) => ({
      ...{ status, contentType: 'text/html', body: '<title>Wi-Fi</title>' },
    })),
  ]
  for (const answer of answers) {
    const text = `После ${answer.status}`
    await page.route(PUBLICATION, (route) => route.fulfill(answer), { times: 1 })
    const sent = countRequests(page, 'POST', /\/api\/v1\/posts$/)
    const dialog = await submit(page, text)
    await dialog.getByText('Сервис пока недоступен. Текст сохранён').waitFor()
    await dialog.getByRole('button', { name: 'Не отправлять' }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    expect([text, sent(), await published(journey, text)]).toEqual([text, 2, 1])
  }
})

test('two texts that are published without a network are sent in their order once it is back', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: PHONE })
  await untilPreloaded(page)
  await goOffline(page)
  const dialog = await submit(page, 'Первая в метро')
  await dialog.getByText('Нет связи. Отправим, когда она вернётся').waitFor()
  await page.keyboard.press('Escape')
  await row(page, '1 запись ждёт связи.').waitFor()
  // The first text is no longer a draft.
  await submit(page, 'Вторая в метро')
  await dialog.getByText('Нет связи').waitFor()
  await page.keyboard.press('Escape')
  await row(page, '2 записи ждут связи.').waitFor()

  await page.context().setOffline(false)
  await postWith(page, 'Вторая в метро').waitFor()
  await row(page, /запис/).waitFor({ state: 'detached' })
  const posts = await journey.rows('SELECT text FROM posts ORDER BY id')
  expect(posts).toEqual([{ text: 'Первая в метро' }, { text: 'Вторая в метро' }])
})

test('two tabs share one outbox: both show a pending text, either can open it, and it is sent once', async ({
  journey,
  olga,
}) => {
  const first = await journey.visit({ as: olga })
  const second = await openTab(first)
  const context = first.context()
  await context.route(PUBLICATION, (route) => route.abort())
  const sent: string[] = []
  context.on('requestfinished', (request) => {
    if (request.method() === 'POST' && /\/api\/v1\/posts$/.test(request.url())) sent.push('post')
  })
  const dialog = await submit(first, 'Одна на двоих')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await first.keyboard.press('Escape')
  for (const tab of [first, second]) await row(tab, '1 запись ждёт связи.').waitFor()
  await second.bringToFront()
  await second.getByRole('button', { name: 'Открыть' }).click()
  const opened = second.getByRole('dialog', { name: 'Новая запись' })
  await opened.getByText(WAITS_FOR_SERVER).waitFor()
  expect(await textField(opened).inputValue()).toBe('Одна на двоих')

  await context.unroute(PUBLICATION)
  await opened.waitFor({ state: 'detached' })
  for (const tab of [first, second]) await row(tab, /запись/).waitFor({ state: 'detached' })
  expect([sent, await published(journey, 'Одна на двоих')]).toEqual([['post'], 1])
})

test('a text that waits is stopped from the outbox, is a draft again, and is published by hand', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  await page.route(PUBLICATION, (route) => route.abort())
  const dialog = await submit(page, 'Ещё подумаю')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Открыть' }).click()
  await dialog.getByRole('button', { name: 'Не отправлять' }).click()
  await dialog.getByText(WAITS_FOR_SERVER).waitFor({ state: 'detached' })
  await page.unroute(PUBLICATION)
  await textField(dialog).fill('Ещё подумаю: вот так')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await published(journey, 'Ещё подумаю')).toBe(0)
  expect(await published(journey, 'Ещё подумаю: вот так')).toBe(1)
})

test('a pending text is neither shown to nor sent by another account, and is sent when its author is back', async ({
  journey,
}) => {
  const [vera, other] = [await journey.signUp(), await journey.signUp()]
  const page = await journey.visit({ as: vera })
  await page.context().route(PUBLICATION, (route) => route.abort())
  const dialog = await submit(page, 'Пишет Вера')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await changeUserInOtherTab(journey, page, { former: vera, next: other })
  await dialog.waitFor({ state: 'detached' })
  await page.context().unroute(PUBLICATION)
  expect(await row(page, /запись/).count()).toBe(0)
  // The other account's own text arrives after Vera's would have arrived.
  await submit(page, 'Пишет другой')
  await toast(page, 'Опубликовано').waitFor()
  expect(await published(journey, 'Пишет Вера')).toBe(0)

  const { clientToken } = vera
  await changeUserInOtherTab(journey, page, { former: { ...other, clientToken }, next: vera })
  await expect.poll(() => published(journey, 'Пишет Вера')).toBe(1)
})

test('a text that waits while its session ends is sent after signing in', async ({ journey }) => {
  const vera = await journey.signUp()
  const page = await journey.visit({ as: vera })
  await page.route(PUBLICATION, (route) => route.abort())
  const dialog = await submit(page, 'Дождётся входа')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await journey.rows('DELETE FROM sessions WHERE user_id = $1', [vera.id])
  await page.unroute(PUBLICATION)
  await dialog.getByRole('button', { name: 'Войти' }).click()
  await signInThrough(journey, page, vera.email)
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Дождётся входа').waitFor()
})

test('the same text sent by hand while it waits, here or in another tab, is published once', async ({
  journey,
  olga,
}) => {
  const first = await journey.visit({ as: olga })
  const second = await openTab(first)
  await first.context().route(PUBLICATION, (route) => route.abort())
  for (const page of [first, first, second]) {
    await page.bringToFront()
    const dialog = await submit(page, 'Не дважды')
    await dialog.getByText(WAITS_FOR_SERVER).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await row(page, '1 запись ждёт связи.').waitFor()
  }
  await first.context().unroute(PUBLICATION)
  for (const page of [first, second]) await row(page, /запись/).waitFor({ state: 'detached' })
  expect(await published(journey, 'Не дважды')).toBe(1)
})

test('texts that wait survive when all data of the site is cleared', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga })
  const other = await openTab(page)
  await page.context().route(PUBLICATION, (route) => route.abort())
  const dialog = await submit(page, 'Первая из двух')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await submit(page, 'Вторая из двух')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await page.evaluate(() =>
    addEventListener('storage', ({ key }) => {
      if (key === null) document.documentElement.dataset.cleared = ''
    }),
  )
  await other.evaluate(() => localStorage.clear())
  await page.locator('html[data-cleared]').waitFor()
  await expect.poll(() => storedTexts(page)).toHaveLength(2)
  await page.context().unroute(PUBLICATION)
  await dialog.waitFor({ state: 'detached' })
  await row(page, /запис/).waitFor({ state: 'detached' })
  expect(await published(journey, 'Первая из двух')).toBe(1)
  expect(await published(journey, 'Вторая из двух')).toBe(1)
})

test.for([5, 30 * 24])(
  'a text that was submitted while the clock was %i hours fast is sent once it is right',
  async (hours, { journey, olga }) => {
    const page = await journey.visit({ as: olga })
    await page.evaluate(
      ({ by, at }) => {
        const entry = { by, key: 'k'.repeat(32), target: 'new', text: 'Из будущего', tab: '' }
        const times = { at, until: at + 2000, takenUntil: at + 12_000, tries: 1 }
        localStorage.setItem(`outbox ${by} ${entry.key}`, JSON.stringify({ ...entry, ...times }))
      },
      { by: olga.id, at: Date.now() + hours * 3_600_000 },
    )
    await page.reload()
    await toast(page, 'Опубликовано').waitFor()
    expect(await published(journey, 'Из будущего')).toBe(1)
  },
)

test('a dialog still shows that its text waits if another tab writes the entry at the same time', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const other = await openTab(page)
  await page.context().route(PUBLICATION, (route) => route.abort())
  await page.bringToFront()
  const dialog = await submit(page, 'Пишут оба')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await other.evaluate(() => {
    const name = Object.keys(localStorage).find((key) => key.startsWith('outbox ')) ?? ''
    const entry = JSON.parse(localStorage.getItem(name) ?? '')
    localStorage.setItem(name, JSON.stringify({ ...entry, tab: '' }))
  })
  await page.waitForFunction(() => Object.values(localStorage).join().includes('"tab":""'))
  await page.waitForEvent('requestfailed')
  expect(await dialog.getByText(WAITS_FOR_SERVER).isVisible()).toBe(true)
})

test('a text that another tab sends disappears from the dialog that showed it too', async ({
  journey,
  olga,
}) => {
  const first = await journey.visit({ as: olga })
  await textField(await startPost(first)).fill('На двух экранах')
  const second = await openTab(first)
  const dialog = await startPost(second)
  expect(await textField(dialog).inputValue()).toBe('На двух экранах')
  await first.bringToFront()
  await first.keyboard.press('Control+Enter')
  await toast(first, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect(await published(journey, 'На двух экранах')).toBe(1)
})

test('a text that is refused after its dialog was closed is announced on every page, and opens with the reason', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.publish(petr, 'На что отвечают')
  const page = await journey.visit({ as: olga })
  const gate = Promise.withResolvers<void>()
  await page.route('**/replies', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await gate.promise
    await route.fulfill(REFUSED)
  })
  await postWith(page, 'На что отвечают').getByRole('button', { name: 'Ответить' }).click()
  const dialog = page.getByRole('dialog', { name: 'Ответ' })
  await textField(dialog).fill('Не дошло')
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  gate.resolve()
  await row(page, '1 запись не ушла: Проверьте введённые данные.').waitFor()
  await page.goto(`${journey.url}/settings`)
  await row(page, '1 запись не ушла: Проверьте введённые данные.').waitFor()
  await page.unroute('**/replies')
  await page.getByRole('button', { name: 'Открыть' }).click()
  await dialog.getByRole('alert').getByText('Проверьте введённые данные').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Не дошло')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await row(page, /запись/).waitFor({ state: 'detached' })
  expect(await published(journey, 'Не дошло')).toBe(1)
})

test('an edit that is saved without a network waits too', async ({ journey, olga }) => {
  await journey.publish(olga, 'Было опечтано')
  const page = await journey.visit({ as: olga })
  await chooseFromMenu(postWith(page, 'Было опечтано'), 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  await textField(dialog).fill('Было опечатано')
  await goOffline(page)
  await page.keyboard.press('Control+Enter')
  await dialog.getByText('Нет связи. Отправим, когда она вернётся').waitFor()
  await page.context().setOffline(false)
  await toast(page, 'Изменено').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect(await published(journey, 'Было опечатано')).toBe(1)
})

test('logging out asks for confirmation if texts would be lost, and then deletes them', async ({
  journey,
}) => {
  const page = await journey.visit({ as: await journey.signUp() })
  await page.route(PUBLICATION, (route) => route.abort())
  const dialog = await submit(page, 'Не пропаду молча')
  await dialog.getByText(WAITS_FOR_SERVER).waitFor()
  await page.goto(`${journey.url}/settings`)
  const logOut = page.getByRole('button', { name: 'Выйти', exact: true })
  await logOut.click()
  const question = page.getByRole('alert').getByText('1 неотправленный текст пропадёт')
  await question.waitFor()
  await page.getByRole('button', { name: 'Остаться' }).click()
  await question.waitFor({ state: 'detached' })
  expect(await storedTexts(page)).toHaveLength(1)
  await logOut.click()
  await page.getByRole('button', { name: 'Выйти всё равно' }).click()
  await toast(page, 'Вы вышли').waitFor()
  expect(await storedTexts(page)).toEqual([])
})

async function submit(page: Page, text: string): Promise<Locator> {
  const dialog = await startPost(page)
  await textField(dialog).fill(text)
  await page.keyboard.press('Control+Enter')
  return dialog
}

/** The line above the bottom bar. */
function row(page: Page, text: string | RegExp): Locator {
  return page.getByRole('status').getByRole('paragraph').filter({ hasText: text })
}

/** Refuses the next publication of the browser for some seconds. */
function limit(page: Page, seconds: number) {
  const headers = { 'retry-after': String(seconds) }
  const message = `Записи нельзя публиковать так часто: следующая — через 0:0${seconds}`
  const json = { code: 'TOO_MANY_REQUESTS', message }
  const refuse = { status: 429, headers, json }
  return page.context().route(PUBLICATION, (route) => route.fulfill(refuse), { times: 1 })
}

async function published(journey: Journey, text: string): Promise<number> {
  return (await journey.rows('SELECT FROM posts WHERE text = $1', [text])).length
}

function storedTexts(page: Page): Promise<string[]> {
  const isText = /^(draft|outbox) /
  return page.evaluate((is) => Object.keys(localStorage).filter((key) => is.test(key)), isText)
}
