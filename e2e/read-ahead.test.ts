import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest, PHONE } from './testing/journey.ts'
import { postWith } from './testing/page/feed.ts'
import { countRequests, spareBytes } from './testing/page/network.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

const REPLIES = /\/posts\/\d+\/replies/
const SECOND_MS = 1000
const POINTER = { x: 640, y: 500 }

desktopTest(
  'a pointer on a card reads the thread, which then opens without another read',
  async ({ journey, olga, petr }) => {
    const post = await journey.publish(olga, 'Тут ответили')
    await journey.reply(petr, post.id, 'Вот и ответ')
    const page = await journey.visit()
    const reads = countRequests(page, 'GET', REPLIES)
    const card = postWith(page, 'Тут ответили')
    const ahead = page.waitForResponse(REPLIES)
    await card.hover()
    await ahead
    expect(new URL(page.url()).pathname).toBe('/')
    await card.click()
    await postWith(page, 'Вот и ответ').waitFor()
    expect(reads()).toBe(1)
  },
)

desktopTest(
  'a finger on a card reads the thread before it is lifted',
  async ({ journey, olga, petr }) => {
    const post = await journey.publish(olga, 'Тут ответили')
    await journey.reply(petr, post.id, 'Вот и ответ')
    const page = await journey.visit({ viewport: PHONE, hasTouch: true })
    const { x = 0, y = 0 } = (await postWith(page, 'Тут ответили').boundingBox()) ?? {}
    const touch = await page.context().newCDPSession(page)
    const ahead = page.waitForResponse(REPLIES)
    const touchPoints = [{ x: x + 200, y: y + 40 }]
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    await ahead
    expect(new URL(page.url()).pathname).toBe('/')
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  },
)

desktopTest(
  'a card that is scrolled under a resting pointer is read at its next move',
  async ({ journey, olga, petr }) => {
    await journey.fillWall(olga, 8)
    const post = await journey.publish(olga, 'Посередине')
    await journey.reply(petr, post.id, 'Вот и ответ')
    await journey.fillWall(olga, 6)
    const page = await journey.visit({ before: (it) => it.clock.install() })
    const reads = countRequests(page, 'GET', REPLIES)
    await page.mouse.move(POINTER.x, POINTER.y)
    const card = postWith(page, 'Посередине')
    while (!(await isUnderPointer(card))) await page.mouse.wheel(0, 40)
    await page.clock.runFor(SECOND_MS)
    const ahead = page.waitForResponse(REPLIES)
    await page.mouse.move(POINTER.x + 5, POINTER.y)
    await page.clock.runFor(SECOND_MS)
    await ahead
    expect(reads()).toBe(1)
  },
)

desktopTest('for a data saver no thread is read ahead', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Тут ответили')
  await journey.reply(petr, post.id, 'Вот и ответ')
  const page = await journey.visit({ before: spareBytes, waitsForScripts: false })
  const reads = countRequests(page, 'GET', REPLIES)
  const card = postWith(page, 'Тут ответили')
  await card.hover()
  await whenScriptsRun(page)
  await page.clock.install()
  await card.hover({ position: { x: 100, y: 20 } })
  await page.clock.runFor(SECOND_MS)
  await page.evaluate(() => fetch(location.href))
  expect(reads()).toBe(0)
})

function isUnderPointer(card: Locator): Promise<boolean> {
  return card.evaluate((it, { x, y }) => it.contains(document.elementFromPoint(x, y)), POINTER)
}
