import { expect } from 'vitest'
import { type Journey, test as onWall } from './testing/journey.ts'
import {
  act,
  moderated,
  recordActs,
  reportByApi,
  signUpModerator,
} from './testing/moderation-actions.ts'
import { focusedPost, goOffline, postWith, toast, typeRussian } from './testing/page-actions.ts'

const test = moderated(onWall)
/** The browser sends a decision after this time. */
const DELAY_MS = 10_000

test('a decision is shown at once; cancelled by its toast or by a key, it never reaches the server, and the focus returns to the card', async ({
  vera,
  publishReported,
  visitQueue,
}) => {
  await publishReported('Спам первый')
  await publishReported('Спам второй')
  const page = await visitQueue(vera)
  const sent = recordActs(page)
  await act(postWith(page, 'Спам первый'), 'Удалить')
  await expect.poll(() => focusedPost(page)).toBe('Спам второй')
  await postWith(page, 'Спам первый').waitFor({ state: 'detached' })
  await page.getByText('Ждут решения: 1').waitFor()
  await page.getByRole('status').getByRole('button', { name: 'Отменить' }).click()
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Спам первый')
  await page.getByText('Ждут решения: 2').waitFor()

  await act(postWith(page, 'Спам первый'), 'Оставить')
  await toast(page, 'Запись оставлена').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Спам первый')
  await page.reload()
  await page.getByText('Ждут решения: 2').waitFor()
  expect(sent).toEqual([])
})

test.for(['closes the tab', 'logs out'])(
  'a decision is sent, once, when the moderator %s before its ten seconds are over',
  async (how, { journey, publishReported, visitQueue }) => {
    const { id } = await publishReported('Спам на бегу')
    const moderator = await signUpModerator(journey)
    const page = await visitQueue(moderator)
    await act(postWith(page, 'Спам на бегу'), 'Удалить')
    await page.getByText('Жалоб нет').waitFor()
    if (how === 'closes the tab') await page.close({ runBeforeUnload: true })
    else {
      await page.getByRole('link', { name: `Профиль ${moderator.username}`, exact: true }).click()
      await page.getByRole('button', { name: 'Выйти' }).click()
      await toast(page, 'Вы вышли').waitFor()
    }
    await expect.poll(() => verdicts(journey)).toEqual({ 'Спам на бегу': 'removed' })
    const decisions = journey.rows('SELECT action FROM journal WHERE post_id = $1', [id])
    expect(await decisions).toEqual([{ action: 'post.remove' }])
  },
)

test('a decision that cannot be sent shows an error, and the report returns to the queue', async ({
  journey,
  publishReported,
  visitQueue,
}) => {
  await publishReported('Останется')
  const page = await visitQueue(await signUpModerator(journey))
  await page.clock.install()
  await act(postWith(page, 'Останется'), 'Удалить')
  await page.getByText('Жалоб нет').waitFor()
  await goOffline(page)
  await page.clock.fastForward(DELAY_MS)
  await toast(page, 'Решение не отправлено. Нет связи. Проверьте интернет и повторите').waitFor()
  await postWith(page, 'Останется').waitFor()
  await page.context().setOffline(false)

  await act(postWith(page, 'Останется'), 'Удалить')
  const other = await page.context().newPage()
  await other.goto(`${journey.url}/settings`)
  await other.getByRole('button', { name: 'Выйти' }).click()
  await toast(other, 'Вы вышли').waitFor()
  await page.bringToFront()
  await page.clock.fastForward(DELAY_MS)
  await toast(page, 'Решение не отправлено. Вы вышли из аккаунта').waitFor()
  expect(await verdicts(journey)).toEqual({ Останется: 'open' })
})

test('the queue is worked through by the keyboard alone, in any layout', async ({
  journey,
  vera,
  publishReported,
  visitQueue,
}) => {
  for (const text of ['Первая', 'Вторая', 'Третья']) await publishReported(text)
  const page = await visitQueue(vera)
  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe('Вторая')
  // «о» is on the J key, «л» on the K key, «в» on the D key, «щ» on the O key.
  await typeRussian(page, 'в')
  await expect.poll(() => focusedPost(page)).toBe('Третья')
  await typeRussian(page, 'л')
  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await typeRussian(page, 'щ')
  await expect.poll(() => focusedPost(page)).toBe('Третья')
  await page.keyboard.press('b')
  await page.getByRole('dialog', { name: 'Заблокировать автора' }).waitFor()
  await page.keyboard.press('Escape')
  await page.goto(journey.url)
  await expect
    .poll(() => verdicts(journey))
    .toEqual({ Первая: 'kept', Вторая: 'removed', Третья: 'open' })
})

test('a post that another moderator has decided about leaves the queue', async ({
  journey,
  vera,
  publishReported,
  visitQueue,
}) => {
  const { id } = await publishReported('Решено без меня')
  const page = await visitQueue(vera)
  await postWith(page, 'Решено без меня').waitFor()
  await page.clock.install()
  await journey.call('POST', `/moderation/posts/${id}/decision`, {
    token: vera.token,
    body: { verdict: 'keep' },
  })
  await act(postWith(page, 'Решено без меня'), 'Удалить')
  await page.getByText('Жалоб нет').waitFor()
  await page.clock.fastForward(DELAY_MS)
  await toast(page, 'Об этой записи уже решили').waitFor()
  await page.getByText('Жалоб нет').waitFor()
})

test('a post reported by three people is hidden until a decision, and only its author can read it', async ({
  journey,
  vera,
  olga,
  petr,
  visitQueue,
}) => {
  const people = await Promise.all([journey.signUp(), journey.signUp(), journey.signUp()])
  await journey.sql.query(`UPDATE users SET created_at = now() - interval '2 days'`)
  const { id } = await journey.publish(petr, 'Трижды неправда')
  for (const person of people) await reportByApi(journey, person, { postId: id })
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  const page = await visitQueue(vera)
  const card = postWith(page, 'Трижды неправда')
  await card.getByText('Пожаловались 3 человека').waitFor()
  await card.getByText('Скрыта до решения').waitFor()

  const author = await journey.visit({ as: petr, path: '/own/posts' })
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
  await page.goto(journey.url)
  await expect.poll(async () => (await journey.call('GET', `/posts/${id}`)).status).toBe(200)
  await author.reload()
  await postWith(author, 'Трижды неправда').waitFor()
  expect(await author.getByText('Скрыта до решения').count()).toBe(0)
})

async function verdicts(journey: Journey): Promise<Record<string, string>> {
  const rows = await journey.rows('SELECT post_text, state FROM reports')
  return Object.fromEntries(rows.map(({ post_text, state }) => [post_text, state]))
}
