import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import { like, postWith, startPost, submitPost, textField, toast } from './testing/page-actions.ts'

test('«Смотреть» over an open dialog keeps the dialog’s text', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, before: (it) => it.clock.install() })
  await (await submitPost(page, 'Уже на стене')).waitFor({ state: 'detached' })
  await toast(page, 'Опубликовано').waitFor()
  // The clock runs until then, and cannot go back. The toast has more than two seconds left.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  const dialog = await startPost(page)
  // The dialog becomes modal, and shows toasts, after a frame that the paused clock holds back.
  await page.clock.runFor(100)
  await textField(dialog).fill('Ещё не на стене')
  expect(await dialog.getByRole('status').getByText('Опубликовано').count()).toBe(1)
  await page.getByRole('link', { name: 'Смотреть' }).click()
  await page.waitForURL('**/posts/*')
  await page.clock.resume()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  expect(await textField(await startPost(page)).inputValue()).toBe('Ещё не на стене')
})

test('if toasts or the header fail, the rest works or reloads', async ({ journey, olga }) => {
  await journey.publish(olga, 'Осталась на месте')
  const page = await journey.visit({
    as: olga,
    // The journey makes the app fail.
    expectedErrors: /./,
    before: async (it) => {
      await it.addInitScript(() => Reflect.deleteProperty(HTMLElement.prototype, 'showPopover'))
      await it.route('**/users/current', (route) =>
        route.fulfill({ json: { id: '1', mutedAuthors: [] } }),
      )
      await it.route('**/likes', (route) => route.fulfill({ status: 503 }))
    },
  })
  await page.getByRole('banner').waitFor({ state: 'detached' })
  const post = postWith(page, 'Осталась на месте')
  const [refused] = await Promise.all([page.waitForResponse('**/likes'), like(post).click()])
  expect(refused.status()).toBe(503)
  await post.getByText('Осталась на месте').click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()

  // The page's frame calls it when another page opens.
  await page.evaluate(() => {
    window.scrollTo = () => {
      throw new Error('the frame fails')
    }
  })
  await page.getByRole('link', { name: 'Стена' }).click()
  await page.getByRole('alert').getByText('Не удалось открыть страницу').waitFor()
  await page.getByRole('button', { name: 'Обновить' }).click()
  await post.waitFor()
})
