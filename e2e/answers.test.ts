import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { tap } from './testing/hands.ts'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { chooseFromMenu, openMenu, postTexts, postWith } from './testing/page/feed.ts'
import { bringTo, isAt, readOn, scroll } from './testing/page/layout.ts'
import { toast } from './testing/page/overlays.ts'
import { openTab } from './testing/page/tab.ts'

const MANY = ['Первый', 'Второй', 'Третий']

/** Returns the link with the bell while it shows `unread` new replies. */
function bell(page: Page, unread = 0): Locator {
  const name = unread > 0 ? `Ответы мне, новых: ${unread}` : 'Ответы мне'
  return page.getByRole('link', { name, exact: true })
}

test('the bell leads to unseen replies, not of muted posts', async ({ journey, olga, petr }) => {
  const page = await journey.visit({ as: olga, path: '/replies', viewport: DESKTOP })
  await page.getByText('Здесь появятся ответы на ваши записи').waitFor()

  const asked = await journey.publish(olga, 'Вопрос')
  const other = await journey.publish(olga, 'Другое')
  const vera = await journey.signUp()
  for (const text of MANY) await journey.reply(text === 'Второй' ? vera : petr, asked.id, text)
  await journey.reply(petr, other.id, 'Про другое')
  await page.goto(journey.url)
  await tap(page.getByRole('link', { name: 'Ответы мне, новых: 4' }))
  await page.waitForURL('**/replies')
  await expect.poll(() => postTexts(page)).toEqual(['Про другое', ...MANY.toReversed()])
  const marks = page.getByText(/Новый ответ|новых ответа/)
  expect(await marks.allTextContents()).toEqual(['Новый ответ', '3 новых ответа'])
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  expect(await page.title()).toBe('Ответы мне - Вслух')

  const group = page.getByText(/^\S+ и \S+ ответили на «Вопрос»$/)
  await page.setViewportSize(PHONE)
  expect(await group.evaluate((line) => line.scrollWidth - line.clientWidth)).toBe(0)
  const third = postWith(page, 'Третий')
  expect(await third.getByText(/ответили на/).count()).toBe(1)
  expect(await postWith(page, 'Первый').getByText('Вопрос').count()).toBe(0)
  await postWith(page, 'Про другое').getByText('Другое', { exact: true }).waitFor()
  await tap(group.getByRole('link'))
  await page.waitForURL(`**/posts/${asked.id}`)
  const card = postWith(page, 'Вопрос').first()
  await chooseFromMenu(card, 'Не сообщать об ответах')
  await toast(page, 'Больше не сообщаем').waitFor()
  await journey.reply(petr, asked.id, 'Не услышат')
  await page.reload()
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  await tap((await openMenu(card)).getByRole('menuitem', { name: 'Сообщать об ответах' }))
  await toast(page, 'Снова сообщаем об ответах').waitFor()
  await page.goto(`${journey.url}/replies`)
  await third.waitFor()
  expect(await marks.count()).toBe(0)
})

test('a reply lights the bell of each tab, until seen or gone', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Спрашиваю')
  const gone = await journey.reply(petr, post.id, 'Передумаю')
  const first = await journey.visitWithNews({ as: olga, path: '/settings' })
  const stream = first.context().waitForEvent('response', (it) => it.url().endsWith(LIVE_PATH))
  const second = await openTab(first, '/settings')
  await stream
  await bell(first, 1).waitFor()
  await journey.call('DELETE', `/posts/${gone.id}`, petr)
  // The mark may already have gone.
  await tap(first.getByRole('link', { name: /^Ответы мне/ }))
  await first.getByRole('heading', { name: 'Записи не найдены' }).waitFor()
  await bell(first).waitFor()

  await journey.reply(petr, post.id, 'Отвечаю')
  await Promise.all([first, second].map((tab) => bell(tab, 1).waitFor()))
  await tap(bell(second, 1))
  await postWith(second, 'Отвечаю').waitFor()
  await bell(second).waitFor()
  await bell(first).waitFor()
})

test('the icon of the app shows unread replies, until seen or signed out', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Вопрос')
  await journey.reply(petr, post.id, 'Раз')
  const page = await journey.visitWithNews({ as: olga, viewport: DESKTOP, before: recordBadge })
  await expectBadge(page, 1)
  await journey.reply(petr, post.id, 'Два')
  await expectBadge(page, 2)
  await tap(bell(page, 2))
  await postWith(page, 'Два').waitFor()
  await expectBadge(page, 0)

  await tap(page.getByRole('link', { name: /^Профиль/ }))
  await journey.reply(petr, post.id, 'Три')
  await expectBadge(page, 1)
  await tap(page.getByRole('button', { name: 'Выйти' }))
  await page.getByRole('button', { name: 'Войти' }).first().waitFor()
  await expectBadge(page, 0)
})

/** Records the badge, which the system shows outside the browser. */
function recordBadge(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    // Browsers without a window have no badges.
    navigator.setAppBadge = async (count) => {
      Reflect.set(window, 'badge', count)
    }
  })
}

async function expectBadge(page: Page, count: number): Promise<void> {
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'badge'))).toBe(count)
}

test('replies above the place are seen, and keep their mark', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Вопрос')
  await journey.rows(
    `INSERT INTO posts (owner_id, text, replied_post_id, parent_post_id, recipient_id, received_no)
     SELECT $1, 'Ответ ' || n, $2, $2, $3, n FROM generate_series(1, 25) n`,
    [petr.id, post.id, olga.id],
  )
  await journey.rows('INSERT INTO answer_states (user_id, last_no) VALUES ($1, 25)', [olga.id])
  const before = (it: Page) => it.clock.install()
  const page = await journey.visit({ as: olga, path: '/replies', before })
  // Each page of the list counts its own.
  const marks = () => page.getByText(/^\d+ новых ответов$/).allTextContents()
  await bell(page).waitFor()
  expect(await marks()).toEqual(['10 новых ответов'])
  await readOn(page, 25)
  const read = postWith(page, /Ответ 8$/)
  await bringTo(read, 217)
  await tap(read.locator('time'))
  await page.getByRole('heading', { name: 'Ответы', exact: true }).waitFor()
  await page.clock.fastForward('10:00')
  await page.goBack()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  expect(await marks()).toEqual(['10 новых ответов', '10 новых ответов', '5 новых ответов'])

  await journey.reply(petr, post.id, 'Новее всех')
  await bell(page, 1).waitFor()
  await page.reload()
  await read.waitFor()
  expect(await postWith(page, 'Новее всех').count()).toBe(0)
  await expect
    .poll(async () => {
      await scroll(page, -400)
      return (await postTexts(page))[0]
    })
    .toBe('Новее всех')
  await bell(page).waitFor()
})
