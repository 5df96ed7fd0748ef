import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { test } from './testing/moderation-actions.ts'
import { chooseFromMenu, openThread, postWith } from './testing/page/feed.ts'
import { bringTo, tapInPlace } from './testing/page/layout.ts'
import { holdCalls } from './testing/page/network.ts'
import { dialogOf } from './testing/page/overlays.ts'
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

test.for([
  ['one’s own reports', '/settings/reports', 'Мои жалобы', '**/current/reports'],
  ['the moderators’ queue', '/moderation', 'Модерация · 12', '**/moderation/queue'],
] as const)(
  'back, forward and a reload keep the place in %s',
  async ([, path, link, call], { journey, olga, petr, vera }) => {
    await journey.fillWall(olga, 12, 'Спорная запись')
    await journey.rows(
      `INSERT INTO reports (post_id, reporter_id, reason_id, author_id, post_text, posted_at)
       SELECT p.id, r.id, 1, p.owner_id, p.text, p.created_at
       FROM posts p, unnest($1::bigint[]) AS r (id) ORDER BY p.id`,
      [[vera.id, petr.id]],
    )
    const page = await journey.visit({ as: vera, viewport: LOW, path: '/settings' })
    const inSettings = await follow(page, link, `**${path}`)
    await page.getByText('Спорная запись 1', { exact: true }).waitFor()
    await expectPlace(page, 0)
    await scrollBy(page, 500)
    const left = await place(page)
    await page.goBack()
    await page.waitForURL('**/settings')
    await expectPlace(page, inSettings)
    await page.goForward()
    await page.waitForURL(`**${path}`)
    await expectPlace(page, left)
    await page.reload()
    await expectPlace(page, left)
    // The place is kept even if the page is left before it has been read again.
    const read = await holdCalls(page, call)
    await page.reload()
    await read.asked
    await page.goBack()
    await expectPlace(page, inSettings)
    read.letGo()
    await page.goForward()
    await expectPlace(page, left)
    const further = await follow(page, 'Стена', `${journey.url}/`)
    await expectPlace(page, 0)
    await page.goBack()
    await expectPlace(page, further)
    await page.goto(`${journey.url}${path}`)
    await page.getByText('Спорная запись 1', { exact: true }).waitFor()
    await expectPlace(page, 0)
  },
)

test('a list keeps its place if the post that was read is deleted on its page', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 40)
  const page = await journey.visit({ as: olga, viewport: LOW })
  const read = postWith(page, /Запись 34$/)
  await read.waitFor()
  await bringTo(read, 20)
  const left = await place(page)
  expect(left).toBeGreaterThan(300)
  await tapInPlace(read.locator('time'))
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await expectPlace(page, 0)
  await chooseFromMenu(page.getByRole('article').first(), 'Удалить')
  await tap((await dialogOf(page, 'Удалить запись?')).getByRole('button', { name: 'Удалить' }))
  await page.waitForURL(`${journey.url}/`)
  await postWith(page, /Запись 33$/).waitFor()
  expect(await read.count()).toBe(0)
  await expectPlace(page, left)
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
  await tapInPlace(link)
  await page.waitForURL(url)
  return left
}
