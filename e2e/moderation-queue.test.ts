import { expect } from 'vitest'
import { journey, olga, test as onWall, petr } from './testing/journey.ts'
import {
  act,
  moderated,
  publishReported,
  reportByApi,
  vera,
  visitQueue,
} from './testing/moderation-actions.ts'
import { focusedPost, postWith, toast, typeRussian } from './testing/page-actions.ts'

const test = moderated(onWall)

test('a decision can be undone by its toast and by a key, and the card gets the focus back', async () => {
  const { id } = await publishReported('Спам первый')
  await publishReported('Спам второй')
  const page = await visitQueue(vera)
  await act(postWith(page, 'Спам первый'), 'Удалить')
  await expect.poll(() => focusedPost(page)).toBe('Спам второй')
  await postWith(page, 'Спам первый').waitFor({ state: 'detached' })
  await page.getByRole('status').getByRole('button', { name: 'Отменить' }).click()
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Спам первый')
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(200)

  await act(postWith(page, 'Спам первый'), 'Оставить')
  await toast(page, 'Запись оставлена').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Спам первый')
})

test('the queue is worked through by the keyboard alone, in any layout', async () => {
  for (const text of ['Первая', 'Вторая', 'Третья']) await publishReported(text)
  const page = await visitQueue(vera)
  await postWith(page, 'Третья').waitFor()
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe('Вторая')
  // «о» stands on the J key, «л» on the K key, «в» on the D key, «щ» on the O key.
  await typeRussian(page, 'в')
  await expect.poll(() => focusedPost(page)).toBe('Третья')
  await typeRussian(page, 'л')
  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await typeRussian(page, 'щ')
  await expect.poll(() => focusedPost(page)).toBe('Третья')
  await page.keyboard.press('b')
  await page.getByRole('dialog', { name: 'Заблокировать автора' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => verdicts()).toEqual({ Первая: 'kept', Вторая: 'removed', Третья: 'open' })
})

test('a post and its author are dealt with at once, and undone at once', async () => {
  const anna = await journey.signUp()
  const { id } = await publishReported('Спам без конца', anna)
  const page = await visitQueue(vera)
  await act(postWith(page, 'Спам без конца'), /Заблокировать/)
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await dialog.getByText('Все сессии автора завершатся, и отмена их не вернёт').waitFor()
  await dialog.getByRole('radio', { name: 'Навсегда' }).check()
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  await toast(page, 'Запись удалена, автор заблокирован').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  await page.getByRole('status').getByRole('button', { name: 'Отменить' }).click()
  await toast(page, 'Решение отменено. Автору придётся войти снова').waitFor()
  await postWith(page, 'Спам без конца').waitFor()
  expect(await page.getByText('Заблокирован').count()).toBe(0)
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(200)
})

test('a queue that cannot be read can be tried again, and a decision without a network leaves the card', async () => {
  await publishReported('Останется в очереди')
  const page = await journey.visit({
    as: vera,
    before: (it) => it.route('**/moderation/queue', (route) => route.fulfill({ status: 400 })),
    path: '/moderation',
  })
  await page.getByRole('button', { name: 'Повторить' }).waitFor()
  await page.unroute('**/moderation/queue')
  await page.getByRole('button', { name: 'Повторить' }).click()
  const card = postWith(page, 'Останется в очереди')
  await card.waitFor()
  await page.context().setOffline(true)
  await act(card, 'Удалить')
  await toast(page, 'Нет связи. Проверьте интернет и повторите').waitFor()
  expect(await card.count()).toBe(1)
  await page.context().setOffline(false)
  await act(card, 'Удалить')
  await page.getByText('Жалоб нет').waitFor()
})

test('what another moderator has decided leaves the queue', async () => {
  const { id } = await publishReported('Решено без меня')
  const page = await visitQueue(vera)
  await postWith(page, 'Решено без меня').waitFor()
  await journey.call('POST', `/moderation/posts/${id}/decision`, {
    token: vera.token,
    body: { verdict: 'keep' },
  })
  await act(postWith(page, 'Решено без меня'), 'Удалить')
  await toast(page, 'Об этой записи уже решили').waitFor()
  await page.getByText('Жалоб нет').waitFor()
})

test('reported by three people, a post is hidden until somebody decides, and its author alone reads it at its address', async () => {
  const people = await Promise.all([journey.signUp(), journey.signUp(), journey.signUp()])
  await journey.sql.query(`UPDATE users SET created_at = now() - interval '2 days'`)
  const { id } = await journey.publish(petr, 'Трижды неправда')
  for (const person of people) await reportByApi(journey, person, { postId: id })
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  const page = await visitQueue(vera)
  const card = postWith(page, 'Трижды неправда')
  await card.getByText('Пожаловались 3 человека').waitFor()
  await card.getByText('Скрыта до решения').waitFor()

  const author = await journey.visit({
    as: petr,
    before: (it) => it.route('**/removed-posts', (route) => route.fulfill({ status: 400 })),
    path: '/own/posts',
  })
  await author.getByRole('button', { name: 'Повторить' }).waitFor()
  await author.unroute('**/removed-posts')
  await author.getByRole('button', { name: 'Повторить' }).click()
  const hidden = author.getByRole('region', { name: 'Удалённые и скрытые' })
  await hidden.getByText('Скрыта до решения').waitFor()
  await hidden.getByText('Трижды неправда').waitFor()
  await hidden.getByText('На запись пожаловались несколько человек').waitFor()
  await author.goto(`${journey.url}/posts/${id}`)
  await author.getByText('Скрыта до решения').waitFor()
  await author.getByText('Трижды неправда').waitFor()
  const other = await journey.visit({ as: olga, path: `/posts/${id}` })
  await other.getByText('Запись не существует или была удалена').waitFor()

  await act(card, 'Вернуть')
  await page.getByText('Жалоб нет').waitFor()
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(200)
  await author.reload()
  await postWith(author, 'Трижды неправда').waitFor()
  expect(await author.getByText('Скрыта до решения').count()).toBe(0)
})

async function verdicts(): Promise<Record<string, string>> {
  const rows = await journey.rows('SELECT post_text, state FROM reports')
  return Object.fromEntries(rows.map(({ post_text, state }) => [post_text, state]))
}
