import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { SITE_DESCRIPTION } from '../contract/pages.ts'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, test } from './testing/journey.ts'
import { postTexts, postWith } from './testing/page/feed.ts'
import { bringTo, isAt, readOn } from './testing/page/layout.ts'
import { goOffline } from './testing/page/network.ts'

const field = (page: Page) => page.getByRole('searchbox', { name: 'Слова из записи или ответа' })
const heading = (page: Page, name: string) => page.getByRole('heading', { name })
const marks = (page: Page) => page.locator('mark').allTextContents()

async function search(page: Page, q: string): Promise<void> {
  await write(field(page), q)
  await page.keyboard.press('Enter')
}

test('results have their words marked, and keep their place', async ({ journey, olga }) => {
  await journey.fillWall(olga, 40, 'Ёжик читает книгу')
  await journey.publish(olga, 'Ничего похожего')
  const page = await journey.visit()
  await tap(page.getByRole('link', { name: 'Поиск' }))
  await heading(page, 'Поиск по записям и ответам').waitFor()
  await expect.poll(() => field(page).evaluate((it) => it === document.activeElement)).toBe(true)
  await search(page, 'книги ежика')
  await page.waitForURL(/\/search\?q=/)
  await expect.poll(() => page.title()).toBe('Поиск: книги ежика - Вслух')
  await expect.poll(() => marks(page)).toContain('Ёжик')
  expect((await marks(page)).slice(0, 2)).toEqual(['Ёжик', 'книгу'])

  // Together with the two calls after the reload, this is within the limit of five at once.
  await readOn(page, 25)
  const read = postWith(page, / 20$/)
  await bringTo(read, 217)
  await tap(read.locator('time'))
  await heading(page, 'Ответы').waitFor()
  await page.goBack()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  expect(await read.locator('mark').allTextContents()).toEqual(['Ёжик', 'книгу'])
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  expect(await postWith(page, 'Ничего похожего').count()).toBe(0)
})

test('posts with similar words follow below a line', async ({ journey, olga }) => {
  await journey.publish(olga, 'Аквариумист')
  await journey.publish(olga, 'Вот аквариум')
  await journey.fillWall(olga, 11, 'Аквариумистика')
  const page = await journey.visit({ path: `/search?q=${encodeURIComponent('аквариум')}` })
  await expect.poll(async () => (await postTexts(page))[0]).toBe('Вот аквариум')
  const line = page.getByText('Похожие слова')
  const order = [postWith(page, 'Вот аквариум'), line, postWith(page, / 11$/)]
  const tops = await Promise.all(order.map(async (it) => (await it.boundingBox())?.y))
  expect(tops).toEqual(tops.toSorted((a = 0, b = 0) => a - b))
  await readOn(page, 13)
  await expect.poll(async () => (await postTexts(page)).at(-1)).toBe('Аквариумист')
  expect(await line.count()).toBe(1)
})

test('a search without results shows why', async ({ journey, olga }) => {
  await journey.publish(olga, 'Нашлось')
  const page = await journey.visit({ path: '/search' })
  await search(page, 'и не был')
  await heading(page, 'Уточните запрос').waitFor()
  await page.getByText('Добавьте слово, которое должно быть в записи').waitFor()
  await goOffline(page)
  await search(page, 'нашлось')
  await page.getByText('Нет связи. Проверьте интернет и повторите').waitFor()
  await page.context().setOffline(false)
  await expect.poll(() => postTexts(page)).toEqual(['Нашлось'])
  await page.goBack()
  await heading(page, 'Уточните запрос').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('и не был')
})

test('on a wide screen the search field is beside the column', async ({ journey, olga }) => {
  await journey.publish(olga, 'Видна с широкого экрана')
  const page = await journey.visit({ viewport: DESKTOP })
  const beside = page.getByRole('complementary', { name: 'О сайте' })
  await beside.getByText(SITE_DESCRIPTION).waitFor()
  await beside.getByRole('link', { name: 'Правила' }).waitFor()
  expect(await page.getByRole('link', { name: 'Поиск' }).isVisible()).toBe(false)
  await write(beside.getByRole('searchbox', { name: 'Поиск по записям' }), 'широкие')
  const place = await beside.getByRole('searchbox').boundingBox()
  await page.keyboard.press('Enter')
  // The wall shows the post too, without the mark.
  await expect.poll(() => marks(page)).toEqual(['широкого'])
  await expect.poll(() => beside.getByRole('searchbox').boundingBox()).toEqual(place)
  expect(await beside.getByRole('searchbox').inputValue()).toBe('широкие')
  expect(await field(page).isVisible()).toBe(false)
})

test('people search in what they wrote and liked, from these lists and on the page of the search', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(petr, 'Чайник свистит')
  await journey.publish(petr, 'Чайник молчит')
  await journey.reply(olga, post.id, 'Мой чайник остыл')
  await journey.call('POST', `/posts/${post.id}/likes`, olga)
  const page = await journey.visit({ as: olga, path: '/liked' })
  await tap(page.getByRole('link', { name: 'Искать в понравившихся' }))
  await expect.poll(() => field(page).evaluate((it) => it === document.activeElement)).toBe(true)
  await search(page, 'чайники')
  await expect.poll(() => postTexts(page)).toEqual(['Чайник свистит'])
  await expect.poll(() => marks(page)).toEqual(['Чайник'])
  const scopes = page.getByRole('navigation', { name: 'Где искать' })
  await tap(scopes.getByRole('link', { name: 'Мои' }))
  await expect.poll(() => postTexts(page)).toEqual(['Мой чайник остыл'])
  expect(await field(page).inputValue()).toBe('чайники')
  await page.reload()
  await expect.poll(() => postTexts(page)).toEqual(['Мой чайник остыл'])
  await tap(scopes.getByRole('link', { name: 'Везде' }))
  await expect.poll(async () => (await postTexts(page)).length).toBe(3)
  await page.goBack()
  await expect.poll(() => postTexts(page)).toEqual(['Мой чайник остыл'])
  for (const path of ['/own/posts', '/own/replies']) {
    await page.goto(journey.url + path)
    await tap(page.getByRole('link', { name: 'Искать в моих записях и ответах' }))
    await page.waitForURL('**/own/search')
  }
  const visitor = await journey.visit({ path: '/search' })
  await heading(visitor, 'Поиск по записям и ответам').waitFor()
  expect(await visitor.getByRole('navigation', { name: 'Где искать' }).count()).toBe(0)
})
