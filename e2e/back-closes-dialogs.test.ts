import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'
import { countCardRenders } from './testing/count-card-renders.ts'
import { countStyledElements, searchesOfWholePage } from './testing/count-styled-elements.ts'
import { journey, olga, PHONE, test } from './testing/journey.ts'
import {
  countRequests,
  dialogOf,
  focused,
  postWith,
  toast,
  untilPreloaded,
} from './testing/page-actions.ts'

beforeEach(async () => {
  await journey.publish(olga, 'Останется на месте')
})

test('going back closes the dialog and saves the draft, going forward and a reload bring it back; no way of closing leaves an entry behind', async () => {
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

  for (const close of [pressClose, pressEscape]) {
    await plus.click()
    await dialog.waitFor()
    await close(page)
    await dialog.waitFor({ state: 'detached' })
    expect(await isDialogEntry(page)).toBe(false)
  }
  // What was closed here, and not by going back, is done with.
  const forward = page.evaluate(() => {
    const moved = new Promise((resolve) => addEventListener('popstate', resolve, { once: true }))
    history.forward()
    return moved.then(() => {})
  })
  await forward
  expect(await dialog.count()).toBe(0)
  await page.evaluate(() => history.back())
  await plus.click()
  await dialog.getByLabel('Текст записи').fill('')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'есть черновик' }).count()).toBe(0)
  expect(listReads()).toBe(1)

  await page.evaluate(() => history.back())
  await page.waitForURL('**/settings')
})

test('opening and closing a dialog renders no card, and a like its own only, on a page that was opened by its address', async () => {
  await journey.publish(olga, 'Рядом')
  const page = await journey.visit({ as: olga })
  const card = postWith(page, 'Останется на месте')
  const path = `/posts/${await card.getAttribute('data-post-id')}/likes`
  await journey.call('POST', path, { token: (await journey.signUp()).token })
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  const openAndClose = async () => {
    await page.keyboard.press('n')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  await openAndClose()
  // A like whose count the server corrects shows that the count counts; it renders its own card only.
  const like = async () => {
    await card.getByRole('button', { name: 'Нравится' }).click()
    await card.getByText('2 отметки «Нравится»').waitFor({ state: 'attached' })
  }
  expect(await countCardRenders(page, like)).toBe(1)
  expect(await countCardRenders(page, openAndClose)).toBe(0)
})

test('closing a dialog makes the browser style the page once, also with the style of other pages', async () => {
  for (let n = 1; n <= 8; n++) await journey.publish(olga, `Запись ${n}`)
  const page = await journey.visit({ as: olga, path: '/rules', viewport: PHONE })
  await page.getByRole('link', { name: 'Стена' }).click()
  await postWith(page, 'Останется на месте').waitFor()
  await page.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = await dialogOf(page, 'Новая запись')
  const elements = await page.locator('body *').count()
  const styled = await countStyledElements(page, async () => {
    await pressEscape(page)
    await dialog.waitFor({ state: 'detached' })
  })
  // The page is no longer inert, so that each element is styled.
  expect(styled / elements).toBeGreaterThan(0.8)
  expect(styled / elements).toBeLessThan(1.4)
})

test('a dialog that comes or goes does not make the browser look through all posts for changed styles', async () => {
  const page = await journey.visit({ as: olga, viewport: PHONE })
  await postWith(page, 'Останется на месте').waitFor()
  await untilPreloaded(page)
  const searches = await searchesOfWholePage(page, async () => {
    await page.getByRole('button', { name: 'Новая запись' }).click()
    await page.locator('dialog:modal').waitFor()
    await pressEscape(page)
    await page.locator('dialog').waitFor({ state: 'detached' })
  })
  expect(searches).toEqual([])
})

test('a dialog shows with its focus before the page becomes inert, and gives the focus back to its button', async () => {
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Останется на месте').waitFor()
  const plus = page.getByRole('button', { name: 'Новая запись' })
  await untilPreloaded(page)
  const atFirst = await plus.evaluate(async (element) => {
    const button = element as HTMLElement
    button.focus()
    button.click()
    await new Promise(requestAnimationFrame)
    const dialog = document.querySelector('dialog')
    dialog?.addEventListener('focusout', () => dialog.setAttribute('data-lost-focus', ''))
    return {
      isVisible: dialog?.checkVisibility(),
      hasFocus: dialog?.contains(document.activeElement),
      isModal: dialog?.matches(':modal'),
      takesTab: document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Tab', bubbles: true, cancelable: true }),
      ),
    }
  })
  const first = { isVisible: true, hasFocus: true, isModal: false, takesTab: false }
  expect(atFirst).toEqual(first)
  await page.locator('dialog:modal').waitFor()
  expect(await focused(page)).toBe('Текст записи')
  expect(await page.locator('dialog[data-lost-focus]').count()).toBe(0)
  await pressEscape(page)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Новая запись')

  await plus.click()
  await page.locator('dialog:modal').waitFor()
  await pressClose(page)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Новая запись')
})

test('a visitor who goes back from the dialog for signing in no longer likes what they tapped', async () => {
  const page = await journey.visit({ viewport: PHONE })
  await postWith(page, 'Останется на месте').getByRole('button', { name: 'Нравится' }).click()
  const dialog = await dialogOf(page, 'Вход')
  expect(await page.evaluate(() => sessionStorage.getItem('intent'))).toContain('like')
  await page.evaluate(() => history.back())
  await dialog.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => sessionStorage.getItem('intent'))).toBeNull()
  expect(new URL(page.url()).pathname).toBe('/')
})

function isDialogEntry(page: Page): Promise<boolean> {
  return page.evaluate(() => Boolean(history.state?.dialog))
}

function pressClose(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Закрыть' }).click()
}

function pressEscape(page: Page): Promise<void> {
  return page.keyboard.press('Escape')
}
