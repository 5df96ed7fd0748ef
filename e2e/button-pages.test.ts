import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { focusedPost, openThread, postTexts } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'

test('with pages by a button a list ends, and goes on where it was; the setting is the browser’s', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.fillWall(petr, 25, 'Запись')
  const page = await journey.visit({ as: olga, path: '/settings' })
  const setting = page.getByRole('checkbox', { name: /^Страницы кнопкой/ })
  expect(await setting.isChecked()).toBe(false)
  await tap(setting)
  await page.goto(journey.url)
  const more = page.getByRole('button', { name: 'Ещё 10', exact: true })
  await more.waitFor()
  const foot = page.getByRole('link', { name: 'Контакты' }).last()
  // A list that loads by scrolling would ask 100 ms after its end is near.
  const asked = page.waitForRequest('**/api/v1/posts?*', { timeout: 1000 }).then(() => true)
  await foot.scrollIntoViewIfNeeded()
  expect(await asked.catch(() => false)).toBe(false)
  expect(await postTexts(page)).toHaveLength(10)
  const before = await boxOf(more)
  await tap(more)
  await expect.poll(() => postTexts(page)).toHaveLength(20)
  const texts = await postTexts(page)
  await expect.poll(() => focusedPost(page)).toBe(texts[10])
  // The next post stands where the button was.
  const { top } = await boxOf(page.getByRole('article').nth(10))
  expect(Math.abs(top - before.top)).toBeLessThan(60)

  await openThread(page, texts[15] ?? '')
  await page.goBack()
  await page.getByText(texts[15] ?? '', { exact: true }).waitFor()
  await more.waitFor()
  await tap(more)
  await expect.poll(() => postTexts(page)).toContain(texts[19])
  await page.getByText('Это все записи').waitFor()
  expect(await more.count()).toBe(0)

  await page.goto(`${journey.url}/settings`)
  expect(await setting.isChecked()).toBe(true)
  await tap(setting)
  await page.goto(journey.url)
  await expect
    .poll(async () => {
      await page.getByRole('article').last().scrollIntoViewIfNeeded()
      return (await postTexts(page)).length
    })
    .toBe(25)
})
