import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { postWith } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { REFUSED } from './testing/page/network.ts'
import { dialogOf } from './testing/page/overlays.ts'

/** A small phone. VISIBLE is the height that the keyboard leaves. */
const PHONE = { width: 360, height: 640 }
const VISIBLE = 340

test('no keyboard covers a text field or its button', async ({ journey, olga }) => {
  await journey.publish(olga, 'Ответьте мне')
  const writer = await journey.visit({ as: olga, viewport: PHONE, before: ownVisualViewport })
  await tap(writer.getByRole('button', { name: 'Новая запись' }))
  await showKeyboard(writer)
  const dialog = await dialogOf(writer, 'Новая запись')
  const text = dialog.getByLabel('Текст записи')
  await write(text, 'я'.repeat(470))
  // Waits until the dialog has stopped moving, above the keyboard.
  await expect.poll(async () => (await boxOf(dialog)).bottom).toBeLessThanOrEqual(VISIBLE)
  const send = dialog.getByRole('button', { name: 'Опубликовать' })
  const title = await boxOf(dialog.getByRole('heading'))
  for (const item of [send, dialog.getByText('30', { exact: true })]) {
    const { top, bottom, left } = await boxOf(item)
    expect(top).toBeLessThan(title.bottom)
    expect(bottom).toBeGreaterThan(title.top)
    expect(left).toBeGreaterThanOrEqual(title.right)
  }
  // The error is above the keyboard, below the end of a long text, and moves no short one.
  const alert = dialog.getByRole('alert').getByText(/./)
  await writer.route('**/posts', (route) => route.fulfill(REFUSED), { times: 2 })
  await text.press('Control+End')
  await tap(send)
  const distance = async () => (await boxOf(alert)).top - (await boxOf(text)).bottom
  await expect.poll(distance).toBeGreaterThanOrEqual(0)
  await write(text, 'Коротко')
  const { top } = await boxOf(text)
  await tap(send)
  const error = await boxOf(alert)
  expect(error.bottom).toBeLessThanOrEqual(VISIBLE)
  expect((await boxOf(text)).top).toBeCloseTo(top, 0)
  // A phone on its side is as wide as a tablet.
  await writer.setViewportSize({ width: 844, height: 180 })
  await expect.poll(async () => (await boxOf(send)).bottom).toBeLessThanOrEqual(180)
  await writer.setViewportSize(PHONE)
  // Large letters leave the title no room, which takes none then.
  await writer.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'))
  expect((await boxOf(dialog.locator('header'))).height).toBeLessThan(100)
  await writer.keyboard.press('Escape')

  await tap(postWith(writer, 'Ответьте мне').getByRole('button', { name: 'Ответить' }))
  const reply = await dialogOf(writer, 'Ответ')
  const answer = reply.getByLabel('Текст ответа')
  await expect.poll(async () => (await boxOf(answer)).top).toBeLessThan(VISIBLE)

  const visitor = await journey.visit({ viewport: PHONE, before: ownVisualViewport })
  await tap(visitor.getByRole('button', { name: 'Войти' }))
  const signIn = await dialogOf(visitor, 'Вход')
  await showKeyboard(visitor)
  const proceed = signIn.getByRole('button', { name: 'Продолжить' })
  await expect.poll(async () => (await boxOf(proceed)).bottom).toBeLessThanOrEqual(VISIBLE)
  // On a phone on its side, a sheet is no wider than a comfortable field.
  await visitor.setViewportSize({ width: 844, height: 390 })
  await expect.poll(async () => (await signIn.boundingBox())?.width).toBe(640)
})

/** Replaces the visual viewport, which a keyboard makes smaller than the page only on iOS. */
async function ownVisualViewport(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const value = Object.assign(new EventTarget(), { scale: 1, offsetTop: 0, height: innerHeight })
    Object.defineProperty(window, 'visualViewport', { value })
  })
}

async function showKeyboard(page: Page): Promise<void> {
  await page.evaluate((height) => {
    Object.assign(visualViewport as object, { height })
    visualViewport?.dispatchEvent(new Event('resize'))
  }, VISIBLE)
}
