import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { postWith } from './testing/page/feed.ts'
import { goOffline } from './testing/page/network.ts'

test('a lost network shows in a banner and in the list', async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
  const page = await journey.visit({ as: olga, viewport: { width: 390, height: 400 } })
  await expect.poll(() => page.getByRole('article').count()).toBe(10)
  // Chunks that a user needs later load separately.
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => scrollTo(0, 100))
  const post = postWith(page, 'Запись 10')
  const before = await post.boundingBox()
  await goOffline(page)
  const banner = page.getByText('Нет связи. Читать можно, а написанное отправим позже')
  // Waits until nothing covers it.
  await banner.hover({ trial: true })
  expect(await post.boundingBox()).toEqual(before)
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const failed = page.getByRole('alert').getByText('Нет связи. Проверьте интернет и повторите')
  await failed.waitFor()
  await page.context().setOffline(false)
  await failed.waitFor({ state: 'detached' })
  await banner.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(10)
})
