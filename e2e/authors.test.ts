import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { DESKTOP, test } from './testing/journey.ts'
import { signUpModerator } from './testing/moderation-actions.ts'
import { postTexts, postWith } from './testing/page/feed.ts'
import { styleOf } from './testing/page/layout.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('a name and its tile lead to the author’s lists and feed', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Первая запись')
  await journey.reply(petr, post.id, 'Ответ Петра')
  const text = 'Запись Петра\nи «вторая» & третья'
  await journey.publish(petr, text)
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  await tap(postWith(page, 'Запись Петра').getByRole('link', { name: petr.username }))
  await page.waitForURL(`**/users/${petr.username}`)
  const heading = page.getByRole('heading', { level: 1, name: petr.username })
  expect(await styleOf(heading, 'font-size')).toBe('22px')
  await page.getByText(/^1 запись, 1 ответ · с\s/).waitFor()
  await expect.poll(() => postTexts(page)).toEqual([text])
  await expect.poll(() => page.title()).toBe(`${petr.username} - Вслух`)
  const replies = page.getByRole('link', { name: 'Ответы', exact: true })
  await tap(replies)
  await expect.poll(() => postTexts(page)).toEqual(['Ответ Петра'])
  await page.emulateMedia({ forcedColors: 'active' })
  const posts = page.getByRole('link', { name: 'Записи', exact: true })
  for (const style of ['color', 'border-bottom-width']) {
    expect(await styleOf(replies, style)).not.toBe(await styleOf(posts, style))
  }
  const main = page.getByRole('main')
  const more = main.getByRole('button', { name: `Ещё: ${petr.username}` })
  await tap(more.first())
  await tap(page.getByRole('menuitem', { name: 'Лента RSS' }))
  await page.waitForURL('**/posts.atom')
  await expect.poll(() => page.locator('content > div').innerText()).toBe(text)
  await page.getByText('Это лента для программ чтения').waitFor()
  expect(await page.locator('entry > title').isVisible()).toBe(true)
  expect(await page.locator('entry > id').isVisible()).toBe(false)
  await tap(page.locator('a'))
  await heading.waitFor()

  await page.goto(journey.url)
  await tap(postWith(page, 'Первая запись').locator('a[aria-hidden]'))
  await page.waitForURL(`**/users/${olga.username}`)
  await expect.poll(() => postTexts(page)).toEqual(['Первая запись'])
  await tap(profileLink(page))
  await page.waitForURL('**/settings')
  await tap(main.getByRole('link', { name: 'Моя страница' }))
  await page.waitForURL(`**/users/${olga.username}`)
  await page.goto(`${journey.url}/users/nobody_here`)
  await page.getByText('Такого имени нет, или его давно сменили').waitFor()
})

test('a moderator’s name is marked on the wall, in a thread and on the author’s page, nobody else’s', async ({
  journey,
  olga,
}) => {
  const vera = await signUpModerator(journey)
  const { id } = await journey.publish(vera, 'Правила изменились')
  await journey.reply(olga, id, 'Спасибо')
  await journey.publish(olga, 'Запись Ольги')
  const page = await journey.visit()
  const mark = page.getByText('модератор', { exact: true })
  await expect.poll(() => postWith(page, 'Правила').locator(mark).count()).toBe(1)
  expect(await mark.count()).toBe(1)
  await tap(postWith(page, 'Правила').locator('time'))
  await postWith(page, 'Спасибо').waitFor()
  expect(await postWith(page, 'Правила').locator(mark).count()).toBe(1)
  expect(await mark.count()).toBe(1)
  await tap(postWith(page, 'Правила').getByRole('link', { name: vera.username }))
  await page.getByText(/^модератор · 1 запись, 0 ответов · с\s/).waitFor()
})
