import { expect } from 'vitest'
import { journey, olga, test } from './testing/journey.ts'
import {
  loseAnswer,
  postTexts,
  postWith,
  startPost,
  styleOf,
  textField,
  toast,
} from './testing/page-actions.ts'

test('the counter shows from 50 characters left and turns red when none are', async () => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const publish = dialog.getByRole('button', { name: 'Опубликовать' })
  const counter = dialog.locator('footer [aria-hidden=true]').getByText(/^−?\d+$/)
  expect(await publish.isDisabled()).toBe(true)
  await textField(dialog).fill('я'.repeat(449))
  expect(await counter.count()).toBe(0)
  expect(await publish.isEnabled()).toBe(true)

  await textField(dialog).fill('я'.repeat(450))
  expect(await counter.innerText()).toBe('50')
  const grey = await styleOf(counter, 'color')
  await textField(dialog).fill(`${'👩'.repeat(500)}`)
  expect(await counter.innerText()).toBe('0')
  expect(await styleOf(counter, 'color')).toBe(grey)
  expect(await publish.isEnabled()).toBe(true)

  await textField(dialog).fill('я'.repeat(501))
  expect(await counter.innerText()).toBe('−1')
  const [red = 0, green = 0, blue = 0] =
    (await styleOf(counter, 'color')).match(/\d+/g)?.map(Number) ?? []
  expect(red).toBeGreaterThan(Math.max(green, blue) + 60)
  expect(await publish.isDisabled()).toBe(true)
  await page.keyboard.press('Control+Enter')
  await textField(dialog).fill('  \n ')
  expect(await publish.isDisabled()).toBe(true)
  expect(await journey.call('GET', '/posts')).toMatchObject({ body: { total: 0 } })
})

test('Ctrl+Enter publishes once; the post is first on the wall, and «Смотреть» leads to it', async () => {
  await journey.publish(olga, 'Прежняя запись')
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Прежняя запись').waitFor()
  const dialog = await startPost(page)
  await textField(dialog).fill('  Первое слово\n\nи второе  ')
  // Also while the dialog of a published text is closing.
  while ((await dialog.count()) > 0) await page.keyboard.press('Control+Enter')
  await toast(page, 'Опубликовано').waitFor()
  expect(await postTexts(page)).toEqual(['Первое слово\n\nи второе', 'Прежняя запись'])
  expect((await journey.call('GET', '/posts')).body.total).toBe(2)
  await page.getByRole('link', { name: 'Смотреть' }).click()
  await page.waitForURL('**/posts/*')
  await postWith(page, 'Первое слово').waitFor()
})

test('a toast stays 3.5 s, and the next comes 0.7 s after it', async () => {
  const first = await journey.publish(olga, 'Первая')
  const second = await journey.publish(olga, 'Вторая')
  const page = await journey.visit({ as: olga, before: (page) => page.clock.install() })
  await postWith(page, 'Вторая').waitFor()
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  for (const post of [first, second]) {
    await journey.call('DELETE', `/posts/${post.id}`, { token: olga.token })
    const refused = page.waitForResponse('**/likes')
    await postWith(page, post.text).getByRole('button', { name: 'Нравится' }).click()
    await refused
  }
  const shown = page.getByRole('status').getByText('Запись не существует или была удалена')
  await shown.waitFor()
  await page.clock.runFor(3_400)
  expect(await shown.count()).toBe(1)
  await page.clock.runFor(150)
  expect(await shown.count()).toBe(0)
  await page.clock.runFor(600)
  expect(await shown.count()).toBe(0)
  await page.clock.runFor(150)
  expect(await shown.count()).toBe(1)
})

test('a draft survives closing and reloading, and is removed when it is published', async () => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  await textField(dialog).fill('Недописанное')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.reload()
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Недописанное')
  await textField(dialog).press('End')
  await page.keyboard.type(', then done')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await postWith(page, 'Недописанное, then done').waitFor()
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('')
})

test('a draft survives the end of the session', async () => {
  const vera = await journey.signUp()
  const page = await journey.visit({ as: vera })
  const dialog = await startPost(page)
  await textField(dialog).fill('Важная мысль')
  await journey.sql.query('DELETE FROM sessions WHERE user_id = $1', [vera.id])
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.getByRole('alert').getByText('Войдите, чтобы продолжить').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Важная мысль')
  await page.keyboard.press('Escape')

  const again = await journey.signIn(vera.email, vera.clientToken)
  const [name = '', value = ''] = again.cookie.split('=')
  await page.context().addCookies([{ name, value, url: journey.url }])
  await page.reload()
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('Важная мысль')
})

test('after a refused send the dialog and the text stay, and a lost answer to the next publishes nothing twice', async () => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const publish = dialog.getByRole('button', { name: 'Опубликовать' })
  await textField(dialog).fill('Дойдёт со второго раза')

  await page.route('**/api/v1/posts', (route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '7000' },
      json: { code: 'TOO_MANY_REQUESTS', message: 'Слишком часто' },
    }),
  )
  await publish.click()
  await dialog.getByRole('alert').getByText('Слишком часто. Повторите через 2 часа').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Дойдёт со второго раза')
  await page.unroute('**/api/v1/posts')

  await loseAnswer(page, 'POST', '**/api/v1/posts')
  await publish.click()
  await dialog.waitFor({ state: 'detached' })
  await toast(page, 'Опубликовано').waitFor()
  expect((await journey.call('GET', '/posts')).body.total).toBe(1)
  expect(await postTexts(page)).toEqual(['Дойдёт со второго раза'])
})
