import { expect } from 'vitest'
import { DESKTOP, test } from './testing/journey.ts'
import { postTexts, postWith, styleOf } from './testing/page-actions.ts'

test('a name and its tile lead to the author, whose posts and replies are two lists', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Первая запись')
  await journey.reply(petr, post.id, 'Ответ Петра')
  await journey.publish(petr, 'Запись Петра')
  const page = await journey.visit({ viewport: DESKTOP })
  await postWith(page, 'Запись Петра').getByRole('link', { name: petr.username }).click()
  await page.waitForURL(`**/users/${petr.username}`)
  const heading = page.getByRole('heading', { level: 1, name: petr.username })
  expect(await styleOf(heading, 'font-size')).toBe('22px')
  await page.getByText(/^1 запись, 1 ответ · с\s/).waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Запись Петра'])
  await expect.poll(() => page.title()).toBe(`${petr.username} - Вслух`)
  await page.getByRole('link', { name: 'Ответы', exact: true }).click()
  await expect.poll(() => postTexts(page)).toEqual(['Ответ Петра'])
  await page.goBack()
  await page.goBack()
  // The page of the replies quotes the first post.
  await expect.poll(() => postTexts(page)).toEqual(['Запись Петра', 'Первая запись'])
  await postWith(page, 'Первая запись').locator('a[aria-hidden]').click()
  await page.waitForURL(`**/users/${olga.username}`)
  await expect.poll(() => postTexts(page)).toEqual(['Первая запись'])
  await page.goto(`${journey.url}/users/nobody_here`)
  await page.getByText('Такого имени нет, или его давно сменили').waitFor()
})

test('the settings lead to the viewer’s page, which links back', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings' })
  const main = page.getByRole('main')
  await main.getByRole('link', { name: 'Моя страница' }).click()
  await page.waitForURL(`**/users/${olga.username}`)
  await main.getByRole('link', { name: 'Настройки' }).click()
  await page.waitForURL('**/settings')
})

test('the menu of an author leads to their feed, which a browser shows as a page with a link back', async ({
  journey,
}) => {
  const vera = await journey.signUp()
  const { owner } = await journey.publish(vera, 'Первая строка\nи «вторая» & третья')
  const page = await journey.visit({ path: `/users/${owner.username}` })
  const more = page.getByRole('main').getByRole('button', { name: `Ещё: ${owner.username}` })
  await more.first().click()
  await page.getByRole('menuitem', { name: 'Лента RSS' }).click()
  await page.waitForURL('**/posts.atom')
  const text = page.locator('content > div')
  await expect.poll(() => text.innerText()).toBe('Первая строка\nи «вторая» & третья')
  await page.getByText('Это лента для программ чтения').waitFor()
  expect(await page.locator('entry > title').isVisible()).toBe(true)
  expect(await page.locator('entry > id').isVisible()).toBe(false)
  await page.locator('a').click()
  await page.getByRole('heading', { level: 1, name: owner.username }).waitFor()
})
