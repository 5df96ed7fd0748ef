import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type JourneyWithMail, PHONE, startJourneyWithMail } from './testing/journey.ts'
import { act, reportByApi, reportByDialog, signUpModerator } from './testing/moderation-actions.ts'
import { focusedPost, postWith, toast, typeRussian } from './testing/page-actions.ts'

const MODERATORS = 'moderators@example.org'
/** The author's mail waits until the decision can no longer be undone. */
const LONG = { timeout: 120_000 }

let journey: JourneyWithMail
let olga: TestUser
let petr: TestUser
let vera: TestUser
beforeAll(async () => {
  journey = await startJourneyWithMail({
    ACCESS_TOKEN_SECONDS: '3600',
    MODERATOR_EMAIL: MODERATORS,
    CONTACT_EMAIL: 'contact@example.org',
  })
  olga = await journey.signUp()
  petr = await journey.signUp()
  vera = await signUpModerator(journey)
})
afterAll(() => journey?.close())
beforeEach(async () => {
  await journey.sql.query('TRUNCATE reports, appeals, blocks')
  await journey.emptyWall()
})

const queueOf = (as: TestUser) => journey.visit({ as, path: '/moderation' })

test(
  'a report leads to a removal that both sides learn of, and an appeal brings the post back with its likes',
  LONG,
  async () => {
    const post = await journey.publish(petr, 'Спорная запись')
    await journey.call('POST', `/posts/${post.id}/likes`, { token: olga.token })

    const reporter = await journey.visit({ as: olga })
    await reportByDialog(reporter, { text: 'Спорная запись', comment: 'Это неправда' })
    await toast(reporter, 'Жалоба отправлена').waitFor()
    expect((await journey.mailbox.mailTo(MODERATORS)).text).toContain(`${journey.url}/moderation`)

    const moderator = await journey.visit({ as: vera, path: '/settings', viewport: PHONE })
    await moderator.getByRole('link', { name: /^Жалобы/ }).click()
    const card = postWith(moderator, 'Спорная запись')
    await card.getByText('Пожаловался 1 человек').waitFor()
    await card.getByText('Другое нарушение').waitFor()
    await card.getByText('Это неправда').waitFor()
    await act(card, 'Удалить')
    await toast(moderator, 'Запись удалена').waitFor()
    await moderator.getByText('Жалоб нет').waitFor()

    // Both are told when the decision can no longer be undone.
    const mail = await journey.mailbox.mailTo(petr.email, 2)
    expect(mail.subject).toContain('Ваша запись удалена')
    await reporter.bringToFront()
    await reporter.reload()
    await toast(reporter, 'Спасибо: по вашей жалобе запись удалена').waitFor()
    await reporter.getByRole('status').getByRole('link', { name: 'Смотреть' }).click()
    await reporter.getByText('Запись удалена').waitFor()
    await reporter.getByText('Вы написали: Это неправда').waitFor()
    await expect.poll(unseen).toEqual([])

    const author = await journey.visit({ as: petr, path: '/own/posts' })
    await author.getByText('Удалено модератором: Другое нарушение').waitFor()
    await author.getByText('Записи не найдены').waitFor()
    await author.getByRole('button', { name: 'Обжаловать' }).click()
    const dialog = author.getByRole('dialog', { name: 'Обжалование' })
    await dialog.getByLabel('Текст обжалования').fill('Это моё мнение')
    await dialog.getByRole('button', { name: 'Отправить' }).click()
    await author.getByText('Вы обжаловали решение').waitFor()
    expect(await author.getByRole('button', { name: 'Обжаловать' }).count()).toBe(0)

    await moderator.bringToFront()
    await moderator.reload()
    await card.getByText('Удалена модератором').waitFor()
    await card.getByText('Это моё мнение').waitFor()
    await act(card, 'Вернуть')
    await toast(moderator, 'Запись возвращена').waitFor()

    await author.bringToFront()
    await author.reload()
    await postWith(author, 'Спорная запись').getByText('1 отметка «Нравится»').waitFor()
    expect(await author.getByText('Удалено модератором').count()).toBe(0)
  },
)

test('a decision can be undone by its toast and by a key, and the card gets the focus back', async () => {
  const { id } = await reported('Спам первый')
  await reported('Спам второй')
  const page = await queueOf(vera)
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
  for (const text of ['Первая', 'Вторая', 'Третья']) await reported(text)
  const page = await queueOf(vera)
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

test('who is blocked reads why, until when and whom to ask, and the text is kept', async () => {
  const anna = await journey.signUp()
  await reported('Оскорбление', anna)
  const page = await queueOf(vera)
  await act(postWith(page, 'Оскорбление'), /Заблокировать/)
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await dialog.getByRole('radio', { name: 'На месяц' }).check()
  await dialog.getByLabel('Причина').fill('Оскорбления')
  await dialog.getByLabel('Удалить и эту запись').uncheck()
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  await postWith(page, 'Оскорбление')
    .getByText(/Заблокирован до.+: Оскорбления/)
    .waitFor()

  const again = await journey.signIn(anna.email)
  const blocked = await journey.visit({ as: again })
  await blocked.getByRole('button', { name: 'Новая запись' }).click()
  await blocked.getByRole('textbox').fill('Последнее слово')
  await blocked.keyboard.press('Control+Enter')
  const alert = blocked.getByRole('dialog').getByRole('alert')
  await alert.getByText(/^Вам закрыли возможность писать до .+Причина: Оскорбления/).waitFor()
  expect(await alert.textContent()).toContain('contact@example.org')
  expect(await blocked.getByRole('textbox').inputValue()).toBe('Последнее слово')

  await page.bringToFront()
  await act(postWith(page, 'Оскорбление'), 'Разблокировать')
  await toast(page, 'Автор разблокирован').waitFor()
  await blocked.bringToFront()
  await blocked.getByRole('button', { name: 'Опубликовать' }).click()
  await toast(blocked, 'Опубликовано').waitFor()
})

test('a post and its author are dealt with at once, and undone at once', async () => {
  const anna = await journey.signUp()
  const { id } = await reported('Спам без конца', anna)
  const page = await queueOf(vera)
  await act(postWith(page, 'Спам без конца'), /Заблокировать/)
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await dialog.getByRole('radio', { name: 'Навсегда' }).check()
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  await toast(page, 'Запись удалена, автор заблокирован').waitFor()
  await dialog.waitFor({ state: 'detached' })
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  await page.getByRole('status').getByRole('button', { name: 'Отменить' }).click()
  await postWith(page, 'Спам без конца').waitFor()
  expect(await page.getByText('Заблокирован').count()).toBe(0)
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(200)
})

test('reported by three people, a post is hidden until somebody decides', async () => {
  const people = await Promise.all([journey.signUp(), journey.signUp(), journey.signUp()])
  await journey.sql.query(`UPDATE users SET created_at = now() - interval '2 days'`)
  const { id } = await journey.publish(petr, 'Трижды неправда')
  for (const person of people) await reportByApi(journey, person, { postId: id })
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  const page = await queueOf(vera)
  const card = postWith(page, 'Трижды неправда')
  await card.getByText('Пожаловались 3 человека').waitFor()
  await card.getByText('Скрыта до решения').waitFor()
  await act(card, 'Вернуть')
  await page.getByText('Жалоб нет').waitFor()
  expect((await journey.call('GET', `/posts/${id}`)).status).toBe(200)
})

test('to everybody else there is no such page, and no link to it', async () => {
  for (const as of [undefined, petr]) {
    const page = await journey.visit(as ? { as } : {})
    const answer = await page.goto(`${journey.url}/moderation`)
    expect(answer?.status()).toBe(404)
    await page.getByText('Страница не существует').waitFor()
  }
  const page = await journey.visit({ as: petr, path: '/settings' })
  await page.getByRole('link', { name: 'Мои жалобы' }).waitFor()
  expect(await page.getByRole('link', { name: 'Жалобы', exact: true }).count()).toBe(0)
  expect(await page.getByText('Записи, которые ждут решения').count()).toBe(0)
})

test('a queue that cannot be read can be tried again, and a decision without a network leaves the card', async () => {
  await reported('Останется в очереди')
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
  const { id } = await reported('Решено без меня')
  const page = await queueOf(vera)
  await postWith(page, 'Решено без меня').waitFor()
  await journey.call('POST', `/moderation/posts/${id}/decision`, {
    token: vera.token,
    body: { verdict: 'keep' },
  })
  await act(postWith(page, 'Решено без меня'), 'Удалить')
  await toast(page, 'Об этой записи уже решили').waitFor()
  await page.getByText('Жалоб нет').waitFor()
})

/** Publishes a post that is reported at once. */
async function reported(text: string, author = petr) {
  const post = await journey.publish(author, text)
  await reportByApi(journey, olga, { postId: post.id })
  return post
}

async function verdicts(): Promise<Record<string, string>> {
  const rows = await journey.rows('SELECT post_text, state FROM reports')
  return Object.fromEntries(rows.map(({ post_text, state }) => [post_text, state]))
}

/** The ids of the reports whose outcome the reporter has not seen. */
function unseen(): Promise<unknown[]> {
  return journey
    .call('GET', '/users/current/reports', { token: olga.token })
    .then(({ body }) => body.reports.filter(({ isNew }: { isNew: boolean }) => isNew))
}
