import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { textField } from './testing/page/compose.ts'
import { chooseFromMenu, openThread, postTexts, postWith } from './testing/page/feed.ts'
import { boxOf, bringTo, recordMoves, tapInPlace } from './testing/page/layout.ts'
import { holdCalls, REFUSED, refuseOnce } from './testing/page/network.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'
import { focused } from './testing/page/tab.ts'

test('a reply or its deletion is counted at once everywhere', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Кто здесь?')
  const page = await journey.visit({ as: petr })
  const asked = postWith(page, 'Кто здесь?').first()
  await reply(page, asked, 'Это я')
  await toast(page, 'Опубликовано').waitFor()
  await expect.poll(() => repliesOf(asked)).toBe('1 ответ')
  await openThread(page, 'Кто здесь?')
  await postWith(page, 'Это я').waitFor()
  expect(await repliesOf(asked)).toBe('1 ответ')

  await reply(page, asked, 'И снова я')
  await expect.poll(() => repliesOf(asked)).toBe('2 ответа')
  await expect.poll(() => postTexts(page)).toEqual(['Кто здесь?', 'И снова я', 'Это я'])
  await chooseFromMenu(postWith(page, 'И снова я'), 'Удалить')
  const dialog = await dialogOf(page, 'Удалить ответ?')
  await tap(dialog.getByRole('button', { name: 'Удалить' }))
  await expect.poll(() => repliesOf(asked)).toBe('1 ответ')
  expect(await postTexts(page)).toEqual(['Кто здесь?', 'Это я'])
  await tap(page.getByRole('button', { name: 'Назад' }))
  await page.getByRole('heading', { name: 'Стена' }).waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Кто здесь?'])
  expect(await repliesOf(asked)).toBe('1 ответ')
})

test('the reply field and the dialog have one draft', async ({ journey, olga, petr }) => {
  const post = await journey.publish(olga, 'Поговорим?')
  const page = await journey.visit({ as: petr, path: `/posts/${post.id}` })
  const { field, send } = fieldOf(page)
  await expect.poll(() => field.getAttribute('placeholder')).toBe('Ответьте первым')
  expect(await focused(page)).not.toBe('Ваш ответ')
  expect((await boxOf(field)).height).toBeLessThan(52)
  expect(await send.count()).toBe(0)
  await write(field, 'Давайте')
  const calls = await holdCalls(page, '**/replies')
  await field.press('Control+Enter')
  await calls.asked
  await field.press('Shift+Tab')
  calls.letGo()
  await toast(page, 'Опубликовано').waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Поговорим?', 'Давайте'])
  expect(await field.inputValue()).toBe('')
  expect(await field.getAttribute('placeholder')).toBe('Ваш ответ')
  // The focus has moved on while the text was being sent, and stays there.
  expect(await focused(page)).toBe(`Ответить: ${olga.username}`)
  await write(field, 'О чём?')
  await send.press('Enter')
  await expect.poll(() => postTexts(page)).toEqual(['Поговорим?', 'О чём?', 'Давайте'])
  expect(await field.inputValue()).toBe('')
  expect(await focused(page)).toBe('Ваш ответ')

  const root = postWith(page, 'Поговорим?').first()
  await write(field, 'Начал в поле')
  await tap(root.getByRole('button', { name: 'Ответить' }))
  const dialog = await dialogOf(page, 'Ответ')
  expect(await textField(dialog).inputValue()).toBe('Начал в поле')
  await write(textField(dialog), 'Продолжил в окне')
  await closeByKey(dialog)
  await expect.poll(() => field.inputValue()).toBe('Продолжил в окне')
  await tap(root.getByRole('button', { name: 'Ответить' }))
  await dialogOf(page, 'Ответ')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => field.inputValue()).toBe('')
  await postWith(page, 'Продолжил в окне').waitFor()
})

test('the reply field keeps a text that is refused or waits', async ({ journey, olga, petr }) => {
  const asked = await journey.publish(olga, 'Ответьте длинно')
  const page = await journey.visit({ as: petr, path: `/posts/${asked.id}`, viewport: DESKTOP })
  const { main, field, send } = fieldOf(page)
  await page.route('**/replies', (route) => route.fulfill(REFUSED))
  await write(field, 'я'.repeat(470))
  await main.getByText('30', { exact: true }).waitFor()
  await tap(send)
  await main.getByRole('alert').getByText('Проверьте введённые данные').waitFor()
  expect(await field.inputValue()).toBe('я'.repeat(470))
  const name = main.getByText(`Пишете как ${petr.username}`)
  await name.waitFor()
  await page.setViewportSize(PHONE)
  await name.waitFor({ state: 'hidden' })

  await refuseOnce(page, '**/replies', 'Не чаще раза в минуту', 40)
  await tap(send)
  const stop = main.getByRole('button', { name: 'Не отправлять' })
  await stop.waitFor()
  const notice = await boxOf(main.getByText(/Отправим через/))
  const button = await boxOf(stop)
  const middle = button.top + button.height / 2
  expect(notice.top).toBeLessThan(middle)
  expect(notice.bottom).toBeGreaterThan(middle)
  expect(notice.right).toBeLessThanOrEqual(button.left)
  expect((await boxOf(send)).top).toBeGreaterThanOrEqual(button.bottom)

  await tap(stop)
  await main.getByText('Не чаще раза в минуту').waitFor({ state: 'detached' })
  await tap(field)
  await page.keyboard.insertText('Строка\n'.repeat(40))
  const bar = page.getByRole('navigation').last()
  const distance = async () => (await boxOf(bar)).top - (await boxOf(send)).bottom
  await expect.poll(distance).toBeGreaterThanOrEqual(0)
})

test('new replies wait behind a button, and move nothing', async ({ journey, olga, petr }) => {
  const asked = await journey.publish(olga, 'Кто придёт?')
  const other = await journey.publish(olga, 'Другой вопрос')
  const texts = Array.from({ length: 9 }, (_, n) => `Приду ${n + 1}`)
  await journey.fillThread(petr, asked.id, texts)
  const page = await journey.visitWithNews({ path: `/posts/${asked.id}` })
  const read = postWith(page, 'Приду 5')
  await bringTo(read, 200)
  const newReplies = page.getByRole('button', { name: 'Показать новые ответы' })
  await journey.reply(petr, other.id, 'Не сюда')
  await journey.reply(olga, asked.id, 'Жду всех')
  await newReplies.waitFor()

  const moves = await recordMoves(read)
  await tapInPlace(newReplies)
  await postWith(page, 'Жду всех').waitFor({ state: 'attached' })
  expect(await moves()).toBeLessThanOrEqual(1)
  await expect.poll(() => repliesOf(postWith(page, 'Кто придёт?'))).toBe('10 ответов')
})

/** Returns the reply field on the page of a post. */
function fieldOf(page: Page) {
  const main = page.getByRole('main')
  const field = main.getByRole('textbox', { name: 'Ваш ответ' })
  return { main, field, send: main.getByRole('button', { name: 'Опубликовать' }) }
}

async function reply(page: Page, to: Locator, text: string): Promise<void> {
  await tap(to.getByRole('button', { name: 'Ответить' }))
  const dialog = page.getByRole('dialog', { name: 'Ответ' })
  await write(dialog.getByRole('textbox', { name: 'Текст ответа' }), text)
  await tap(dialog.getByRole('button', { name: 'Опубликовать' }))
  await dialog.waitFor({ state: 'detached' })
}

/** Returns the label of a post's number of replies; null if there is none. */
function repliesOf(post: Locator): Promise<string | null> {
  return post.getByRole('button', { name: 'Ответить' }).evaluate((button) => {
    const id = button.getAttribute('aria-describedby')
    return id && (document.getElementById(id)?.textContent ?? null)
  })
}
