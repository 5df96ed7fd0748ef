import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { PHONE, test } from './testing/journey.ts'
import {
  chooseFromMenu,
  countRequests,
  depth,
  dialogOf,
  focused,
  postWith,
  toast,
  untilPreloaded,
} from './testing/page-actions.ts'

test.beforeEach(async ({ journey, olga }) => {
  await journey.publish(olga, 'Останется на месте')
})

test('going back closes the dialog and saves the draft, going forward and a reload restore it; no way of closing leaves an entry behind', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings', viewport: PHONE })
  await page.getByRole('link', { name: 'Стена' }).click()
  await postWith(page, 'Останется на месте').waitFor()
  const listReads = countRequests(page, 'GET', /\/api\/v1\/posts\?/)
  const plus = page.getByRole('button', { name: 'Новая запись' })

  await plus.click()
  const dialog = await dialogOf(page, 'Новая запись')
  await dialog.getByLabel('Текст записи').fill('Ещё не сказано')
  await page.evaluate(() => history.back())
  await dialog.waitFor({ state: 'detached' })
  await toast(page, 'Черновик сохранён').waitFor()
  await page.getByRole('button', { name: /^Новая запись.*есть черновик$/ }).waitFor()
  await postWith(page, 'Останется на месте').waitFor()
  expect(new URL(page.url()).pathname).toBe('/')

  await page.evaluate(() => history.forward())
  await dialog.waitFor()
  expect(await dialog.getByLabel('Текст записи').inputValue()).toBe('Ещё не сказано')
  await page.reload()
  await dialog.waitFor()
  expect(await dialog.getByLabel('Текст записи').inputValue()).toBe('Ещё не сказано')
  await pressEscape(page)
  await dialog.waitFor({ state: 'detached' })
  expect(await isDialogEntry(page)).toBe(false)

  await expect.poll(() => depth(page)).toBe(1)

  for (const close of [pressClose, pressEscape]) {
    await plus.click()
    await dialog.waitFor()
    await close(page)
    await dialog.waitFor({ state: 'detached' })
    expect(await isDialogEntry(page)).toBe(false)
    await expect.poll(() => depth(page)).toBe(1)
  }
  // A dialog that was closed, but not by going back, does not return.
  await step(page, 1)
  expect(await dialog.count()).toBe(0)
  await step(page, -1)
  await plus.click()
  await dialog.getByLabel('Текст записи').fill('')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'есть черновик' }).count()).toBe(0)
  expect(listReads()).toBe(1)

  await expect.poll(() => depth(page)).toBe(1)
  await step(page, -1)
  await page.waitForURL('**/settings')
})

test('«Назад» and «Закрыть» at the same moment take one step', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings', viewport: PHONE })
  await page.getByRole('link', { name: 'Стена' }).click()
  const plus = page.getByRole('button', { name: 'Новая запись' })
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  for (const pauseMs of [0, 0, 5, 20]) {
    await plus.click()
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
  await plus.click()
  await dialog.waitFor()
  expect(new URL(page.url()).pathname).toBe('/')
})

test('a dialog closes at once, and the app keeps working, even if the browser never takes the step back', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, viewport: PHONE })
  const plus = page.getByRole('button', { name: 'Новая запись' })
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await plus.click()
  await dialog.waitFor()
  await page.evaluate(() => {
    const never = new Promise(() => {})
    navigation.traverseTo = () => ({ committed: never, finished: never }) as NavigationResult
  })
  await pressEscape(page)
  await dialog.waitFor({ state: 'detached' })
  await plus.click()
  await dialog.waitFor()
  await pressClose(page)
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Настройки' }).click()
  await page.waitForURL('**/settings')
})

test('a closed dialog leaves no entry without the Navigation API', async ({ journey, olga }) => {
  const page = await journey.visit({
    as: olga,
    viewport: PHONE,
    before: (it) => it.addInitScript(() => Reflect.deleteProperty(window, 'navigation')),
  })
  expect(await page.evaluate(() => 'navigation' in window)).toBe(false)
  for (const close of [pressClose, pressEscape]) {
    await page.getByRole('button', { name: 'Новая запись' }).click()
    const dialog = await dialogOf(page, 'Новая запись')
    await close(page)
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => depth(page)).toBe(0)
  }
})

test('a dialog is modal from the task of the tap, with the focus in its field, or else on itself, and returns the focus to its button', async ({
  journey,
  olga,
  petr,
}) => {
  const other = await journey.publish(petr, 'Чужая запись')
  const page = await journey.visit({ as: olga })
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
  for (const close of [pressEscape, pressClose]) {
    await close(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page)).toBe('Новая запись')
    await plus.click()
    await page.getByRole('dialog').waitFor()
  }
  await pressEscape(page)
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const card = page.locator(`[data-post-id="${other.id}"]`)
  const openings: Record<string, () => Promise<unknown>> = {
    'Удалить запись?': () => chooseFromMenu(postWith(page, 'Останется на месте'), 'Удалить'),
    Пожаловаться: () => chooseFromMenu(card, 'Пожаловаться'),
    'Сочетания клавиш': () => page.keyboard.press('Shift+Slash'),
  }
  for (const [title, open] of Object.entries(openings)) {
    await open()
    const dialog = await dialogOf(page, title)
    expect(await focused(page)).toBe(title)
    await pressEscape(page)
    await dialog.waitFor({ state: 'detached' })
  }
})

test('closing the sign-in dialog drops the like that opened it', async ({ journey }) => {
  const page = await journey.visit({ viewport: PHONE })
  const intent = () => page.evaluate(() => sessionStorage.getItem('intent'))
  for (const close of [() => page.evaluate(() => history.back()), () => pressEscape(page)]) {
    await postWith(page, 'Останется на месте').getByRole('button', { name: 'Нравится' }).click()
    const dialog = await dialogOf(page, 'Вход')
    expect(await intent()).toContain('like')
    await close()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(intent).toBeNull()
    expect(new URL(page.url()).pathname).toBe('/')
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

function isDialogEntry(page: Page): Promise<boolean> {
  return page.evaluate(() => Boolean(history.state?.dialog))
}

function pressClose(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Закрыть' }).click()
}

function pressEscape(page: Page): Promise<void> {
  return page.keyboard.press('Escape')
}
