import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { testWith } from './testing/journey.ts'
import { startPost, storedTexts, textField } from './testing/page/compose.ts'
import { closeByKey } from './testing/page/overlays.ts'
import { profileLink, signInButton, signInDialog } from './testing/sign-in-actions.ts'

const test = testWith()

test('after a move the sign-in says why, and the former address shows the drafts, to copy or remove', async ({
  journey: { product, visit },
  olga,
}) => {
  const address = `http://wall.localhost:${product.port}`
  await product.stop()
  await product.start({ PUBLIC_URL: product.url })
  const page = await visit({ as: olga, permissions: ['clipboard-read', 'clipboard-write'] })
  await profileLink(page).waitFor()
  const dialog = await startPost(page)
  await write(textField(dialog), 'Дописать <b>потом</b>')
  await closeByKey(dialog)
  await expect.poll(() => storedTexts(page)).toHaveLength(1)
  const clarification = { target: 'clarify 7', state: 'draft', text: 'В восемь', at: 0 }
  await page.evaluate(
    (text) => localStorage.setItem('text 1 clarify 7', text),
    JSON.stringify(clarification),
  )
  await page.goto('about:blank')
  await product.stop()
  await product.start({ PUBLIC_URL: address, FORMER_URLS: product.url })

  await page.goto(address)
  await tap(signInButton(page))
  const step = signInDialog(page)
  await step.dialog
    .getByText(`Стена переехала с localhost:${product.port}, поэтому войдите ещё раз`)
    .waitFor()
  await tap(step.dialog.getByRole('link', { name: 'Черновики остались по прежнему адресу' }))
  await page.waitForURL(`${product.url}/moved`)
  const texts = page.getByRole('listitem')
  await texts.getByText('Уточнение записи, черновик').waitFor()
  const kept = texts.filter({ hasText: 'Дописать' })
  await kept.getByText('Дописать <b>потом</b>', { exact: true }).waitFor()
  await tap(kept.getByRole('button', { name: 'Скопировать' }))
  await kept.getByRole('button', { name: 'Скопировано' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Дописать <b>потом</b>')

  page.once('dialog', (question) => void question.accept())
  await tap(page.getByRole('button', { name: 'Удалить их отсюда' }))
  await page.getByText('нет ни черновиков, ни неотправленных текстов').waitFor()
  expect(await page.evaluate(() => Object.keys(localStorage).join())).not.toMatch(/text /)
  expect(await page.getByRole('link', { name: 'wall.localhost' }).getAttribute('href')).toBe(
    address,
  )
})
