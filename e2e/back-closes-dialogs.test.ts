import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type Journey, PHONE, startJourney } from './testing/journey.ts'
import { countRequests, dialogOf, postWith, toast } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

let journey: Journey
let olga: TestUser
beforeAll(async () => {
  journey = await startJourney()
  olga = await journey.signUp()
  await journey.publish(olga, 'Останется на месте')
})
afterAll(() => journey?.close())

test('going back closes the dialog and saves the draft, on the same page; no way of closing leaves an entry behind', async () => {
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

  await forward(page)
  await plus.click()
  await dialog.waitFor()
  expect(await dialog.getByLabel('Текст записи').inputValue()).toBe('Ещё не сказано')
  await page.reload()
  await profileLink(page).waitFor()
  await expect.poll(() => isDialogEntry(page)).toBe(false)
  expect(await dialog.count()).toBe(0)

  for (const close of [pressClose, pressEscape]) {
    await plus.click()
    await dialog.waitFor()
    await close(page)
    await dialog.waitFor({ state: 'detached' })
    expect(await isDialogEntry(page)).toBe(false)
  }
  await plus.click()
  await dialog.getByLabel('Текст записи').fill('')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'есть черновик' }).count()).toBe(0)
  expect(listReads()).toBe(1)

  await page.evaluate(() => history.back())
  await page.waitForURL('**/settings')
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

/** Goes forward, which leads to the entry of a closed dialog and from there back. */
async function forward(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const moved = () =>
      new Promise((resolve) => addEventListener('popstate', resolve, { once: true }))
    const arrived = moved()
    history.forward()
    await arrived
    await moved()
  })
  expect(await isDialogEntry(page)).toBe(false)
  expect(await page.getByRole('dialog').count()).toBe(0)
}

function isDialogEntry(page: Page): Promise<boolean> {
  return page.evaluate(() => Boolean(history.state?.isDialog))
}

function pressClose(page: Page): Promise<void> {
  return page.getByRole('button', { name: 'Закрыть' }).click()
}

function pressEscape(page: Page): Promise<void> {
  return page.keyboard.press('Escape')
}
