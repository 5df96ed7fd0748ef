import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Mailbox, openMailbox } from '../server/testing/mailbox.ts'
import { launchChromium } from './testing/chromium.ts'
import { createProduct, type Product } from './testing/product.ts'

let mailbox: Mailbox
let product: Product
let browser: Browser
beforeAll(async () => {
  mailbox = await openMailbox()
  product = await createProduct({ SMTP_URL: mailbox.url })
  await product.start()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  await product?.remove()
  await mailbox?.close()
})

test('a visitor reads, registers by the mailed code, publishes, and finds the post after a reload and a restart', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
  await page.goto(product.url)
  await page.getByText('Записи не найдены').waitFor()
  expect(await page.title()).toBe('Стена - Вслух')

  await page.getByRole('button', { name: 'Новая запись' }).click()
  const signIn = page.getByRole('dialog')
  await signIn.getByLabel('Электронная почта').fill('olga@example.org')
  await page.keyboard.press('Enter')
  await signIn.getByRole('button', { name: 'Продолжить' }).click()
  await signIn.getByLabel('Код подтверждения').waitFor()
  const reloaded = page.waitForEvent('load')
  await signIn.getByLabel('Код подтверждения').fill(await mailbox.codeFor('olga@example.org'))
  await reloaded

  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.getByLabel('Текст записи').fill('Сегодня впервые за месяц выключила телефон.')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await page.getByRole('status').getByText('Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await expectFirstPost(page)

  await page.reload()
  await expectFirstPost(page)

  await product.stop()
  await product.start()
  await page.reload()
  await expectFirstPost(page)
  await page.close()
})

async function expectFirstPost(page: Page): Promise<void> {
  const first = page.getByRole('article').first()
  await first.getByText('Сегодня впервые за месяц выключила телефон.').waitFor()
}
