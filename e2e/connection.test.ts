import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { goOffline, postWith } from './testing/page-actions.ts'

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
  await expect.poll(() => isWholeInSight(banner)).toBe(true)
  expect(await post.boundingBox()).toEqual(before)
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const failed = page.getByRole('alert').getByText('Нет связи. Проверьте интернет и повторите')
  await failed.waitFor()
  await page.context().setOffline(false)
  await failed.waitFor({ state: 'detached' })
  await banner.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(10)
})

/** Whether an element is not covered, and all of it is within the viewport. */
async function isWholeInSight(element: Locator): Promise<boolean> {
  if ((await element.count()) === 0) return false
  return element.evaluate((it) => {
    const { left, right, top, bottom } = it.getBoundingClientRect()
    const corners = [top + 2, bottom - 2].flatMap((y) => [left + 2, right - 2].map((x) => [x, y]))
    return corners.every(([x = 0, y = 0]) => {
      const seen = document.elementFromPoint(x, y)
      return seen !== null && it.contains(seen)
    })
  })
}
