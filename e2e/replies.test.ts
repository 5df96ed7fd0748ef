import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { journey, olga, petr, test, visitWithNews } from './testing/journey.ts'
import {
  bringTo,
  chooseFromMenu,
  countRequests,
  postTexts,
  postWith,
  recordMoves,
  switchView,
  tap,
  toast,
} from './testing/page-actions.ts'

test('the reply dialog shows the post that is replied to, and the reply is counted at once wherever the post is shown', async () => {
  const post = await journey.publish(olga, 'Кто здесь?')
  await journey.call('POST', `/posts/${post.id}/likes`, { token: petr.token })
  const page = await journey.visit({ as: petr })
  const asked = postWith(page, 'Кто здесь?').first()

  await switchView(page, 'Понравившиеся')
  await page.waitForURL('**/liked')
  await asked.waitFor()
  await reply(page, asked, 'Это я')
  await toast(page, 'Опубликовано').waitFor()
  await expect.poll(() => repliesOf(asked)).toBe('1 ответ')
  await page.getByText('Кто здесь?', { exact: true }).click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await postWith(page, 'Это я').waitFor()
  expect(await repliesOf(asked)).toBe('1 ответ')

  await reply(page, asked, 'И снова я')
  await expect.poll(() => repliesOf(asked)).toBe('2 ответа')
  await expect.poll(() => postTexts(page)).toEqual(['Кто здесь?', 'И снова я', 'Это я'])
  await page.getByRole('button', { name: 'Назад' }).click()
  await page.waitForURL('**/liked')
  expect(await repliesOf(asked)).toBe('2 ответа')
  await page.goBack()
  await page.waitForURL(`${journey.url}/`)
  await expect.poll(() => repliesOf(asked)).toBe('2 ответа')
  expect(await postTexts(page)).toEqual(['Кто здесь?'])

  await page.goto(`${journey.url}/own/replies`)
  await expect.poll(() => postTexts(page)).toEqual(['И снова я', 'Это я'])
  expect(await page.title()).toBe('Мои ответы - Вслух')
})

test('a deleted reply is subtracted from every count', async () => {
  const post = await journey.publish(olga, 'Спросил и жду')
  await journey.reply(petr, post.id, 'Поспешный ответ')
  const page = await journey.visit({ as: petr })
  const asked = postWith(page, 'Спросил и жду').first()
  await page.getByText('Спросил и жду', { exact: true }).click()
  await chooseFromMenu(postWith(page, 'Поспешный ответ'), 'Удалить')
  await page
    .getByRole('dialog', { name: 'Удалить ответ?' })
    .getByRole('button', { name: 'Удалить' })
    .click()
  await toast(page, 'Удалено').waitFor()
  await expect.poll(() => repliesOf(asked)).toBe(null)
  expect(await postTexts(page)).toEqual(['Спросил и жду'])
  await page.getByRole('button', { name: 'Назад' }).click()
  await page.waitForURL(`${journey.url}/`)
  await expect.poll(() => repliesOf(asked)).toBe(null)
})

test('a thread whose root is gone stays readable behind a placeholder', async () => {
  const root = await journey.publish(olga, 'Исчезающая запись')
  const answer = await journey.reply(petr, root.id, 'Ответ остаётся')
  const page = await journey.visit({ as: petr, path: `/posts/${answer.id}` })
  await postWith(page, 'Исчезающая запись').waitFor()
  await page.getByRole('heading', { name: 'Ответ', exact: true }).waitFor()
  expect(await page.title()).toBe(`${petr.username}: Ответ остаётся - Вслух`)
  await journey.call('DELETE', `/posts/${root.id}`, { token: olga.token })
  await page.reload()
  await page.getByText('Запись удалена').waitFor()
  expect(await postTexts(page)).toEqual(['Ответ остаётся'])
  await page.goto(`${journey.url}/own/replies`)
  const remaining = postWith(page, 'Ответ остаётся')
  await remaining.getByText('Запись удалена').waitFor()
  await page.goto(`${journey.url}/posts/${root.id}`)
  await page.getByText('Запись не найдена').waitFor()
})

test('each reply has a draft of its own', async () => {
  await journey.publish(olga, 'Первая мысль')
  await journey.publish(olga, 'Вторая мысль')
  const page = await journey.visit({ as: petr })
  const dialog = page.getByRole('dialog', { name: 'Ответ' })
  const text = dialog.getByRole('textbox', { name: 'Текст записи' })
  for (const word of ['Первая', 'Вторая']) {
    await postWith(page, `${word} мысль`).getByRole('button', { name: 'Ответить' }).click()
    await dialog.getByText(`${word} мысль`).waitFor()
    expect(await text.inputValue()).toBe('')
    await text.fill(`${word}: ответ`)
    await dialog.getByRole('button', { name: 'Закрыть' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await postWith(page, 'Первая мысль').getByRole('button', { name: 'Ответить' }).click()
  expect(await text.inputValue()).toBe('Первая: ответ')
})

test('new replies to a post wait behind a button on its page, which only they light, and come above what is read', async () => {
  const asked = await journey.publish(olga, 'Кто придёт?')
  const other = await journey.publish(olga, 'Другой вопрос')
  for (let n = 1; n <= 9; n += 1) await journey.reply(petr, asked.id, `Приду ${n}`)
  const page = await visitWithNews({ path: `/posts/${asked.id}` })
  const read = postWith(page, 'Приду 5')
  await bringTo(read, 200)
  const requests = countRequests(page, 'GET', /\/api\//)
  const newReplies = page.getByRole('button', { name: 'Показать новые ответы' })
  await journey.reply(petr, other.id, 'Не сюда')
  await journey.reply(olga, asked.id, 'Жду всех')
  const since = performance.now()
  await newReplies.waitFor()
  expect(performance.now() - since).toBeLessThan(1500)
  expect(requests()).toBe(0)

  const moves = await recordMoves(read)
  await tap(newReplies)
  await postWith(page, 'Жду всех').waitFor({ state: 'attached' })
  expect(await moves()).toBeLessThanOrEqual(1)
  await expect.poll(() => repliesOf(postWith(page, 'Кто придёт?'))).toBe('10 ответов')
  await page.getByRole('button', { name: 'К новым ответам' }).click()
  await expect
    .poll(async () => (await postWith(page, 'Жду всех').boundingBox())?.y)
    .toBeLessThan(400)
  await page.getByText('Вы остановились здесь').waitFor()
})

test('one’s own reply lights no button, nor does one to another post', async () => {
  const asked = await journey.publish(olga, 'Кто придёт?')
  const other = await journey.publish(olga, 'Другой вопрос')
  const page = await visitWithNews({ as: petr, path: `/posts/${asked.id}` })
  await reply(page, postWith(page, 'Кто придёт?').first(), 'Я приду')
  await postWith(page, 'Я приду').waitFor()
  const otherPage = await visitWithNews({ path: `/posts/${other.id}` })
  await journey.reply(olga, other.id, 'Не сюда')
  await otherPage.getByRole('button', { name: 'Показать новые ответы' }).waitFor()
  expect(await page.getByRole('button', { name: /новые ответы/ }).count()).toBe(0)
})

async function reply(page: Page, to: Locator, text: string): Promise<void> {
  await to.getByRole('button', { name: 'Ответить' }).click()
  const dialog = page.getByRole('dialog', { name: 'Ответ' })
  await dialog.getByRole('textbox', { name: 'Текст записи' }).fill(text)
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** The label of a post's number of replies; null where there is none. */
function repliesOf(post: Locator): Promise<string | null> {
  return post.getByRole('button', { name: 'Ответить' }).evaluate((button) => {
    const id = button.getAttribute('aria-describedby')
    return id && (document.getElementById(id)?.textContent ?? null)
  })
}
