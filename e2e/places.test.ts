import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { openThread, postWith } from './testing/page/feed.ts'
import { profileLink } from './testing/sign-in-actions.ts'

const LOW = { width: 1280, height: 400 }

test('back, forward and a reload keep the place in a text', async ({ journey, olga }) => {
  await journey.fillWall(olga, 20)
  const page = await journey.visit({ viewport: LOW })
  await postWith(page, 'Запись 20').waitFor()
  await scrollBy(page, 600)
  const onWall = await follow(page, 'Персональные данные', '**/privacy')
  await expectPlace(page, 0)
  await scrollBy(page, 900)
  const inText = await follow(page, 'Контакты', '**/contacts')
  expect(inText).toBeGreaterThan(300)
  await expectPlace(page, 0)
  await page.goBack()
  await expectPlace(page, inText)
  await page.reload()
  await expectPlace(page, inText)
  await page.goBack()
  await expectPlace(page, onWall)
  await page.goForward()
  await expectPlace(page, inText)
  await scrollBy(page, -inText)
  await page.goBack()
  await expectPlace(page, onWall)
  await page.goForward()
  await page.waitForURL('**/privacy')
  await expectPlace(page, 0)
})

test('back and a reload keep the place in the settings, whose content comes late', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Своя запись')
  const page = await journey.visit({ as: olga, viewport: LOW })
  await openThread(page, 'Своя запись')
  await tap(profileLink(page))
  await page.waitForURL('**/settings')
  await expectPlace(page, 0)
  const left = await follow(page, 'Мои жалобы', '**/settings/reports')
  expect(left).toBeGreaterThan(100)
  await page.goBack()
  await expectPlace(page, left)
  await page.reload()
  await expectPlace(page, left)
  const further = await follow(page, 'Стена', `${journey.url}/`)
  await expectPlace(page, 0)
  await page.goBack()
  await expectPlace(page, further)
})

function place(page: Page): Promise<number> {
  return page.evaluate(() => Math.round(scrollY))
}

async function expectPlace(page: Page, y: number): Promise<void> {
  await expect.poll(async () => Math.abs((await place(page)) - y)).toBeLessThan(5)
}

/** Turns the wheel until the page has moved as far. */
async function scrollBy(page: Page, by: number): Promise<void> {
  const to = (await place(page)) + by
  await page.mouse.move(600, 200)
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, to - (await place(page)))
      return Math.abs((await place(page)) - to)
    })
    .toBeLessThan(5)
}

/** Follows a link. Returns the place at which the page was left. */
async function follow(page: Page, name: string, url: string): Promise<number> {
  const link = page.getByRole('link', { name, exact: true }).first()
  await link.scrollIntoViewIfNeeded()
  const left = await place(page)
  await tap(link)
  await page.waitForURL(url)
  return left
}
