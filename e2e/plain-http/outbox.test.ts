import { expect } from 'vitest'
import { clear, write } from '../testing/hands.ts'
import { test } from '../testing/journey.ts'
import { startPost, storedTexts, textField } from '../testing/page/compose.ts'
import { toast } from '../testing/page/overlays.ts'
import { openTab } from '../testing/page/tab.ts'

test('two tabs without locks send a waiting text once', async ({ journey, olga }) => {
  const first = await journey.visit({ as: olga })
  // The conditions of this project.
  const found = await first.evaluate(() => ({
    isSecureContext,
    apis: ['locks', 'clipboard', 'serviceWorker'].filter((name) => name in navigator),
    randomUUID: typeof crypto.randomUUID,
  }))
  expect(found).toEqual({ isSecureContext: false, apis: [], randomUUID: 'undefined' })
  const context = first.context()
  const second = await openTab(first)
  const refuse = { status: 503, headers: { 'retry-after': '1' } }
  await context.route('**/api/v1/posts', (route) => route.fulfill(refuse))
  let sent = 0
  context.on('response', (response) => {
    if (response.status() === 201) sent += 1
  })
  for (const text of ['Первая', 'Вторая']) {
    await first.bringToFront()
    const dialog = await startPost(first)
    await write(textField(dialog), text)
    await first.keyboard.press('Control+Enter')
    await dialog.getByText('Сервис пока недоступен').waitFor()
    await first.keyboard.press('Escape')
  }
  for (const tab of [first, second]) await tab.getByText('2 записи ждут связи.').waitFor()
  await first.close()
  await context.unroute('**/api/v1/posts')
  await toast(second, 'Опубликовано').waitFor()
  await second.getByText(/ждёт связи|ждут связи/).waitFor({ state: 'detached' })
  expect(sent).toBe(2)
  const posts = await journey.rows('SELECT text FROM posts ORDER BY text')
  expect(posts).toEqual([{ text: 'Вторая' }, { text: 'Первая' }])
})

test('without locks a tab keeps its text from another tab', async ({ journey, olga }) => {
  const first = await journey.visit({ as: olga })
  const dialog = await startPost(first)
  await write(textField(dialog), 'Текст первой')
  const second = await openTab(first)
  const other = await startPost(second)
  expect(await textField(other).inputValue()).toBe('Текст первой')
  await write(textField(other), 'Совсем другое')
  await expect.poll(() => storedTexts(first)).toEqual(['Совсем другое', 'Текст первой'])
  expect(await textField(dialog).inputValue()).toBe('Текст первой')

  // The draft of a tab that is closed is taken over.
  await first.close()
  await second.reload()
  await clear(textField(other))
  await second.keyboard.press('Escape')
  await other.waitFor({ state: 'detached' })
  await startPost(second)
  await write(textField(other), 'Текст первой, продолжение')
  await expect.poll(() => storedTexts(second)).toEqual(['Текст первой, продолжение'])
})
