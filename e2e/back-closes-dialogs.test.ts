import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { clear, tap, write } from './testing/hands.ts'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { textField } from './testing/page/compose.ts'
import { like, postWith } from './testing/page/feed.ts'
import { countRequests, untilPreloaded } from './testing/page/network.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'
import { depth, focused } from './testing/page/tab.ts'

test.beforeEach(async ({ journey, olga }) => {
  await journey.publish(olga, 'Останется на месте')
})

test('going back closes a dialog, forward or a reload restores it', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings', viewport: PHONE })
  await tap(page.getByRole('link', { name: 'Стена' }))
  await postWith(page, 'Останется на месте').waitFor()
  const listReads = countRequests(page, 'GET', /\/api\/v1\/posts\?/)
  const plus = page.getByRole('button', { name: 'Новая запись' })

  await tap(plus)
  const dialog = await dialogOf(page, 'Новая запись')
  await write(textField(dialog), 'Ещё не сказано')
  await page.evaluate(() => history.back())
  await dialog.waitFor({ state: 'detached' })
  await toast(page, 'Черновик сохранён').waitFor()
  await page.getByRole('button', { name: /^Новая запись.*есть черновик$/ }).waitFor()
  await postWith(page, 'Останется на месте').waitFor()
  expect(new URL(page.url()).pathname).toBe('/')

  for (const restore of [() => page.evaluate(() => history.forward()), () => page.reload()]) {
    await restore()
    await dialog.waitFor()
    expect(await textField(dialog).inputValue()).toBe('Ещё не сказано')
  }
  await closeByKey(dialog)
  await expect.poll(() => depth(page)).toBe(1)
  // A dialog that was closed, but not by going back, does not return.
  await step(page, 1)
  expect(await dialog.count()).toBe(0)
  await step(page, -1)
  await tap(plus)
  await clear(textField(dialog))
  await closeByKey(dialog)
  expect(await page.getByRole('button', { name: 'есть черновик' }).count()).toBe(0)
  expect(listReads()).toBe(1)

  await expect.poll(() => depth(page)).toBe(1)
  await step(page, -1)
  await page.waitForURL('**/settings')
})

test('«Назад» and «Закрыть» at the same moment take one step', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings', viewport: PHONE })
  await tap(page.getByRole('link', { name: 'Стена' }))
  const plus = page.getByRole('button', { name: 'Новая запись' })
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  for (const pauseMs of [0, 0, 5, 20]) {
    await tap(plus)
    await dialog.waitFor()
    await page.evaluate(async (ms) => {
      history.back()
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
      document.querySelector<HTMLElement>('dialog [aria-label="Закрыть"]')?.click()
    }, pauseMs)
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => depth(page)).toBe(1)
  }
  // A dialog opens when no step back is pending.
  await tap(plus)
  await dialog.waitFor()
  expect(new URL(page.url()).pathname).toBe('/')

  // The browser never takes the step back.
  await page.evaluate(() => {
    const never = new Promise(() => {})
    navigation.traverseTo = () => ({ committed: never, finished: never }) as NavigationResult
  })
  await closeByKey(dialog)
  await tap(plus)
  await dialog.waitFor()
  await closeByButton(dialog)
  await tap(page.getByRole('link', { name: 'Настройки' }))
  await page.waitForURL('**/settings')
})

test('a dialog is modal at once, and returns the focus', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  await postWith(page, 'Останется на месте').waitFor()
  const plus = page.getByRole('button', { name: 'Новая запись' })
  await untilPreloaded(page)
  const isModal = await plus.evaluate(async (element) => {
    const button = element as HTMLElement
    button.focus()
    button.click()
    await new Promise(requestAnimationFrame)
    return document.querySelector('dialog')?.matches(':modal:focus-within')
  })
  expect(isModal).toBe(true)
  expect(await focused(page)).toBe('Текст записи')
  const dialog = page.getByRole('dialog')
  for (const close of [closeByKey, closeByButton]) {
    await close(dialog)
    expect(await focused(page)).toBe('Новая запись')
    await tap(plus)
    await dialog.waitFor()
    await clickAgain(page)
    expect(await focused(page)).toBe('Текст записи')
  }
  await closeByKey(dialog)

  // A dialog without a field.
  await postWith(page, 'Останется на месте').getByRole('button', { name: 'Ещё' }).dblclick()
  await tap(page.getByRole('menuitem', { name: 'Удалить' }))
  await dialogOf(page, 'Удалить запись?')
  await clickAgain(page)
  expect(await focused(page)).toBe('Удалить запись?')
  // On a phone the button for a new post lies under «Отмена».
  await page.setViewportSize(PHONE)
  await page.getByRole('button', { name: 'Отмена' }).dblclick()
  await expect.poll(() => depth(page)).toBe(0)
})

test('without the Navigation API a closed dialog leaves no entry', async ({ journey }) => {
  const page = await journey.visit({
    viewport: PHONE,
    before: (it) => it.addInitScript(() => Reflect.deleteProperty(window, 'navigation')),
  })
  expect(await page.evaluate(() => 'navigation' in window)).toBe(false)
  // Nor does it leave the like that opened it.
  const intent = () => page.evaluate(() => sessionStorage.getItem('intent'))
  const goBack = () => page.evaluate(() => history.back())
  for (const close of [closeByButton, closeByKey, goBack]) {
    await tap(like(postWith(page, 'Останется на месте')))
    const dialog = await dialogOf(page, 'Вход')
    expect(await intent()).toContain('like')
    await close(dialog)
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(intent).toBeNull()
    await expect.poll(() => depth(page)).toBe(0)
  }
})

/** Goes one step through the history, and waits until the app knows. */
function step(page: Page, by: 1 | -1): Promise<void> {
  return page.evaluate(async (delta) => {
    const moved = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }))
    history.go(delta)
    await moved
  }, by)
}

/** Clicks once more where the mouse is, as people do who double-click everything. */
async function clickAgain({ mouse }: Page): Promise<void> {
  await mouse.down({ clickCount: 2 })
  await mouse.up({ clickCount: 2 })
}

async function closeByButton(dialog: Locator): Promise<void> {
  await tap(dialog.getByRole('button', { name: 'Закрыть' }))
  await dialog.waitFor({ state: 'detached' })
}
