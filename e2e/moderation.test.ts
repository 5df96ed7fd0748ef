import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type Journey, PHONE, testWith } from './testing/journey.ts'
import { act, moderated, reportByDialog } from './testing/moderation-actions.ts'
import { postWith, toast } from './testing/page-actions.ts'
import { profileLink, signInButton, signInThrough } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

const MODERATORS = 'moderators@example.org'

const test = moderated(
  testWith({ MODERATOR_EMAIL: MODERATORS, CONTACT_EMAIL: 'contact@example.org' }),
)

test('a report leads to a removal of which both sides are notified, and an appeal restores the post with its likes', async ({
  journey,
  vera,
  olga,
  petr,
}) => {
  const post = await journey.publish(petr, 'Спорная запись')
  await journey.call('POST', `/posts/${post.id}/likes`, { token: olga.token })

  const reporter = await journey.visit({ as: olga })
  await reportByDialog(reporter, { text: 'Спорная запись', comment: 'Это неправда' })
  await toast(reporter, 'Жалоба отправлена').waitFor()
  await reporter.getByText('Вы пожаловались на эту запись').waitFor()
  await reporter.reload()
  await profileLink(reporter).waitFor()
  await reporter.getByRole('button', { name: 'Показать' }).click()
  await reporter.getByText('Спорная запись').waitFor()
  expect((await journey.mailbox.mailTo(MODERATORS)).text).toContain(`${journey.url}/moderation`)

  const moderator = await journey.visit({ as: vera, path: '/settings', viewport: PHONE })
  await moderator.getByRole('link', { name: /есть жалобы$/ }).waitFor()
  await moderator.getByRole('link', { name: /^Модерация · 1/ }).click()
  const card = postWith(moderator, 'Спорная запись')
  await card.getByText('Пожаловался 1 человек').waitFor()
  await card.getByText('Другое нарушение').waitFor()
  await card.getByText('Это неправда').waitFor()
  await act(card, 'Удалить')
  await toast(moderator, 'Запись удалена').waitFor()
  await moderator.getByText('Жалоб нет').waitFor()
  // A decision is sent after ten seconds, or when the page is left.
  await moderator.reload()

  const mail = await journey.mailbox.mailTo(petr.email)
  expect(mail.subject).toContain('Ваша запись удалена')
  await reporter.bringToFront()
  await reporter.reload()
  await toast(reporter, 'Спасибо: по вашей жалобе запись удалена').waitFor()
  await reporter.getByRole('status').getByRole('link', { name: 'Смотреть' }).click()
  await reporter.getByText('Запись удалена').waitFor()
  await reporter.getByText('Вы написали: Это неправда').waitFor()
  await expect.poll(() => unseen(journey, olga)).toEqual([])

  const author = await journey.visit({ as: petr })
  await toast(author, 'Модератор удалил вашу запись').waitFor()
  await author.getByRole('status').getByRole('link', { name: 'Смотреть' }).click()
  await author.getByText('Удалено модератором: Другое нарушение').waitFor()
  await author.getByText('Записи не найдены').waitFor()
  await author.getByRole('button', { name: 'Обжаловать' }).click()
  const dialog = author.getByRole('dialog', { name: 'Обжалование' })
  await dialog.getByText('Удалено модератором: Другое нарушение').waitFor()
  await dialog.getByText('Спорная запись').waitFor()
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
  await moderator.goto(journey.url)
  const read = () => journey.call('GET', `/posts/${post.id}`)
  await expect.poll(async () => (await read()).status).toBe(200)

  await author.bringToFront()
  const removed = author.waitForResponse('**/removed-posts')
  await author.reload()
  expect((await (await removed).json()).posts).toEqual([])
  await postWith(author, 'Спорная запись').getByText('1 отметка «Нравится»').waitFor()
  expect(await author.getByText('Удалено модератором').count()).toBe(0)
})

test('a blocked user reads why they are signed out, until when and whom to ask, before and after writing, and keeps the text', async ({
  journey,
  vera,
  publishReported,
  visitQueue,
}) => {
  const anna = await journey.signUp()
  await publishReported('Оскорбление', anna)
  const before = await journey.visit({ as: anna })
  await profileLink(before).waitFor()
  const page = await visitQueue(vera)
  await act(postWith(page, 'Оскорбление'), /Заблокировать/)
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await dialog.getByRole('radio', { name: 'На месяц' }).check()
  await dialog.getByLabel('Причина').fill('Оскорбления')
  await dialog.getByLabel('Удалить и эту запись').uncheck()
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  const card = postWith(page, 'Оскорбление')
  await card.getByText('1 запись · заблокирован до').waitFor()
  await card.getByText('Причина блокировки: Оскорбления').waitFor()

  await page.goto(journey.url)
  await expect.poll(() => journey.rows('SELECT user_id FROM blocks')).toHaveLength(1)
  await before.getByRole('link', { name: 'Ответы мне' }).click()
  await before.getByText('Сессия завершена модератором · Почему').click()
  await before.getByText('Причина: Оскорбления. Спросить можно у тех').waitFor()
  await signInButton(before).waitFor()
  expect(await before.getByRole('status').getByText('Сессия завершена').count()).toBe(0)
  const again = await journey.signIn(anna.email)
  const blocked = await journey.visit({ as: again })
  await blocked.getByText(/^До .+ вы можете только читать · Почему$/).click()
  await blocked.getByText('Причина: Оскорбления. Спросить можно у тех').waitFor()
  await blocked.getByRole('button', { name: 'Новая запись' }).click()
  await blocked
    .getByRole('dialog')
    .getByText(/вы можете только читать\. Причина/)
    .waitFor()
  await blocked.getByRole('textbox').fill('Последнее слово')
  await blocked.keyboard.press('Control+Enter')
  const alert = blocked.getByRole('dialog').getByRole('alert')
  await alert.getByText(/^До .+ вы можете только читать\. Причина: Оскорбления/).waitFor()
  expect(await alert.textContent()).toContain('contact@example.org')
  expect(await blocked.getByRole('textbox').inputValue()).toBe('Последнее слово')

  await page.bringToFront()
  await page.goto(`${journey.url}/moderation`)
  await act(postWith(page, 'Оскорбление'), 'Разблокировать')
  await toast(page, 'Автор разблокирован').waitFor()
  await blocked.bringToFront()
  await blocked.getByRole('button', { name: 'Опубликовать' }).click()
  await toast(blocked, 'Опубликовано').waitFor()
})

test('of many removed posts an author first sees the newest three', async ({ journey, petr }) => {
  for (const number of [1, 2, 3, 4, 5]) await journey.publish(petr, `Лишняя ${number}`)
  await journey.rows(
    `UPDATE posts SET hidden_for = 'removed', hidden_reason = 'Спам', hidden_by = 'vera',
       hidden_at = now(), hidden_until = now() + interval '1 day' WHERE owner_id = $1`,
    [petr.id],
  )
  const page = await journey.visit({ as: petr, path: '/own/posts' })
  await page.getByText('Лишняя 3').waitFor()
  expect(await page.getByText('Лишняя 2').isVisible()).toBe(false)
  await page.getByText('Ещё 2').click()
  await page.getByText('Лишняя 1').waitFor()
})

test('the queue looks like an unknown address to visitors and other users, and no link leads to it; a moderator who signs in there sees it', async ({
  journey,
  vera,
  olga,
  publishReported,
}) => {
  await publishReported('Ждёт модератора')
  const page = await journey.visit({ path: '/nowhere' })
  const shown = () => page.getByRole('main').innerText()
  const anywhere = await shown()
  expect((await page.goto(`${journey.url}/moderation`))?.status()).toBe(404)
  await whenScriptsRun(page)
  await expect.poll(shown).toBe(anywhere)

  await signInButton(page).click()
  await signInThrough(journey, page, vera.email)
  await page.waitForURL(`${journey.url}/moderation`)
  await postWith(page, 'Ждёт модератора').waitFor()
  // The status stays 404, because the server sends it before it knows the viewer.
  expect((await page.reload())?.status()).toBe(404)
  await postWith(page, 'Ждёт модератора').waitFor()

  const other = await journey.visit({ as: olga, path: '/moderation' })
  await profileLink(other).waitFor()
  await expect.poll(() => other.getByRole('main').innerText()).toBe(anywhere)
  await other.goto(`${journey.url}/settings`)
  await other.getByRole('link', { name: 'Мои жалобы' }).waitFor()
  expect(await other.getByText(/Модерация|ждут решения/).count()).toBe(0)
})

/** Returns the ids of the reports whose outcome the reporter has not seen. */
function unseen(journey: Journey, olga: TestUser): Promise<unknown[]> {
  return journey
    .call('GET', '/users/current/reports', { token: olga.token })
    .then(({ body }) => body.reports.filter(({ isNew }: { isNew: boolean }) => isNew))
}
