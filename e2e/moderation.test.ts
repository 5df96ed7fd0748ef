import type { Route } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, PHONE } from './testing/journey.ts'
import { act, reportByDialog, test } from './testing/moderation-actions.ts'
import { postWith, switchView } from './testing/page/feed.ts'
import { toast, untilStill } from './testing/page/overlays.ts'
import { profileLink, signInButton, signInThrough } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('a removal notifies both sides, an appeal ends it', async ({ journey, vera, olga, petr }) => {
  const post = await journey.publish(petr, 'Спорная запись')
  await journey.call('POST', `/posts/${post.id}/likes`, { token: olga.token })
  const reporter = await journey.visit({ as: olga })
  await reportByDialog(reporter, { text: 'Спорная запись', comment: 'Это неправда' })
  await toast(reporter, 'Жалоба отправлена').waitFor()
  await reporter.getByText('Вы пожаловались на эту запись').waitFor()
  await reporter.reload()
  await profileLink(reporter).waitFor()
  await tap(reporter.getByRole('button', { name: `Показать: ${petr.username}` }))
  await reporter.getByText('Спорная запись').waitFor()

  const moderator = await journey.visit({ as: vera, path: '/settings', viewport: PHONE })
  await moderator.getByRole('link', { name: /есть жалобы$/ }).waitFor()
  await tap(moderator.getByRole('link', { name: /^Модерация · 1/ }))
  const card = postWith(moderator, 'Спорная запись')
  for (const text of ['Пожаловался 1 человек', 'Другое нарушение', 'Это неправда'])
    await card.getByText(text).waitFor()
  await act(card, `Удалить: ${petr.username}`)
  await toast(moderator, 'Запись удалена').waitFor()
  await moderator.getByText('Жалоб нет').waitFor()
  // A decision is sent after ten seconds, or when the page is left.
  await moderator.reload()
  const read = async () => (await journey.call('GET', `/posts/${post.id}`)).status
  await expect.poll(read).toBe(404)

  await reporter.bringToFront()
  await reporter.reload()
  await toast(reporter, 'Спасибо: по вашей жалобе запись удалена').waitFor()
  await tap(reporter.getByRole('status').getByRole('link', { name: 'Смотреть' }))
  await reporter.getByText('Запись удалена').waitFor()
  await reporter.getByText('Вы написали: Это неправда').waitFor()
  const unseen = async () => (await journey.read('/users/current/reports', olga)).reports
  await expect.poll(unseen).toMatchObject([{ isNew: false }])

  const author = await journey.visit({ as: petr })
  await toast(author, 'Модератор удалил вашу запись').waitFor()
  await tap(author.getByRole('status').getByRole('link', { name: 'Смотреть' }))
  await author.getByText('Записи не найдены').waitFor()
  await tap(author.getByRole('button', { name: 'Обжаловать: Спорная запись' }))
  const dialog = author.getByRole('dialog', { name: 'Обжалование' })
  await dialog.getByText('Удалено модератором: Другое нарушение').waitFor()
  await dialog.getByText('Спорная запись').waitFor()
  await write(dialog.getByLabel('Текст обжалования'), 'Это моё мнение')
  await tap(dialog.getByRole('button', { name: 'Отправить' }))
  await author.getByText('Вы обжаловали решение').waitFor()
  expect(await author.getByRole('button', { name: 'Обжаловать' }).count()).toBe(0)

  await moderator.bringToFront()
  await moderator.reload()
  await card.getByText('Удалена модератором').waitFor()
  await card.getByText('Это моё мнение').waitFor()
  await act(card, 'Вернуть')
  await toast(moderator, 'Запись возвращена').waitFor()
  await moderator.goto(journey.url)
  await expect.poll(read).toBe(200)

  await author.bringToFront()
  const removed = author.waitForResponse('**/removed-posts')
  await author.reload()
  expect((await (await removed).json()).posts).toEqual([])
  await postWith(author, 'Спорная запись').getByText('1 отметка «Нравится»').waitFor()
  expect(await author.getByText('Удалено модератором').count()).toBe(0)
})

test('a blocked user reads why, and keeps the text', async ({ journey, vera, queue }) => {
  const anna = await journey.signUp()
  const { id } = await queue.report('Оскорбление', anna)
  const before = await journey.visit({ as: anna })
  await profileLink(before).waitFor()
  const page = await queue.visit(vera)
  const card = postWith(page, 'Оскорбление')
  await act(card, /Заблокировать/)
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await dialog.getByRole('radio', { name: 'На месяц' }).check()
  await write(dialog.getByLabel('Причина'), 'Оскорбления')
  await dialog.getByLabel('Удалить и эту запись').uncheck()
  await tap(dialog.getByRole('button', { name: 'Заблокировать' }))
  await card.getByText('1 запись · заблокирован до').waitFor()
  await card.getByText('Причина блокировки: Оскорбления').waitFor()

  await page.goto(journey.url)
  await expect.poll(() => journey.rows('SELECT user_id FROM blocks')).toHaveLength(1)
  const reason = 'Причина: Оскорбления. Спросить можно у тех'
  await tap(before.getByRole('link', { name: 'Ответы мне' }))
  await tap(before.getByText('Сессия завершена модератором · Почему'))
  await before.getByText(reason).waitFor()
  await signInButton(before).waitFor()
  expect(await before.getByRole('status').getByText('Сессия завершена').count()).toBe(0)
  const again = await journey.signIn(anna.email)
  const blocked = await journey.visit({ as: again, path: `/posts/${id}`, viewport: DESKTOP })
  await tap(blocked.getByText(/^До .+ вы можете только читать · Почему$/))
  await blocked.getByText(reason).waitFor()
  await write(blocked.getByRole('textbox', { name: 'Ваш ответ' }), 'Не только')
  const note = /вы можете только читать\. Причина: Оскорбления/
  await blocked.getByRole('main').getByText(note).waitFor()
  await tap(blocked.getByRole('button', { name: 'Новая запись' }))
  const form = blocked.getByRole('dialog')
  await form.getByText(note).waitFor()
  const text = form.getByRole('textbox')
  await write(text, 'Последнее слово')
  await untilStill(form)
  const place = await text.boundingBox()
  await blocked.keyboard.press('Control+Enter')
  await form.getByRole('alert').getByText(note).waitFor()
  expect(await form.getByText(note).filter({ visible: true }).count()).toBe(1)
  expect(await text.inputValue()).toBe('Последнее слово')
  expect(await text.boundingBox()).toEqual(place)
  // On a phone the error is far from the note, which leaves no gap.
  await blocked.setViewportSize(PHONE)
  expect(await form.getByText(note).filter({ visible: true }).count()).toBe(2)

  await page.bringToFront()
  await page.goto(`${journey.url}/moderation`)
  await act(card, `Разблокировать: ${anna.username}`)
  await toast(page, 'Автор разблокирован').waitFor()
  await blocked.bringToFront()
  await tap(form.getByRole('button', { name: 'Опубликовать' }))
  await toast(blocked, 'Опубликовано').waitFor()
})

test('of many removed posts an author first sees the newest three', async ({ journey, petr }) => {
  for (const number of [1, 2, 3, 4, 5]) await journey.publish(petr, `Лишняя ${number}`)
  await journey.removePosts('owner_id', petr.id)
  const page = await journey.visit({ as: petr })
  await toast(page, 'Модератор удалил 5 ваших записей').waitFor()
  await tap(page.getByRole('status').getByRole('link', { name: 'Смотреть' }))
  await page.getByText('Лишняя 3').waitFor()
  expect(await page.getByText('Лишняя 2').isVisible()).toBe(false)
  await tap(page.getByText('Ещё 2'))
  await page.getByText('Лишняя 1').waitFor()

  // The page that lists them needs no toast, even before it has read them.
  const [news, list] = [Promise.withResolvers<Route>(), Promise.withResolvers<Route>()]
  const reads = [news, list]
  const other = await journey.visit({
    as: petr,
    before: (it) => it.route('**/removed-posts', (route) => reads.shift()?.resolve(route)),
  })
  const told = other.waitForResponse('**/removed-posts')
  const read = await news.promise
  await switchView(other, 'Мои записи')
  const listed = await list.promise
  await read.continue()
  await told
  await listed.continue()
  await other.getByText('Лишняя 3').waitFor()
  expect(await toast(other, 'Модератор удалил 5 ваших записей').count()).toBe(0)
})

test('only moderators see the queue or a link to it', async ({ journey, vera, olga, queue }) => {
  await queue.report('Ждёт модератора')
  const page = await journey.visit({ path: '/nowhere' })
  const shown = () => page.getByRole('main').innerText()
  const anywhere = await shown()
  expect((await page.goto(`${journey.url}/moderation`))?.status()).toBe(404)
  await whenScriptsRun(page)
  await expect.poll(shown).toBe(anywhere)

  await tap(signInButton(page))
  await signInThrough(journey, page, vera.email)
  await page.waitForURL(`${journey.url}/moderation`)
  await postWith(page, 'Ждёт модератора').waitFor()

  const other = await journey.visit({ as: olga, path: '/moderation' })
  await profileLink(other).waitFor()
  await expect.poll(() => other.getByRole('main').innerText()).toBe(anywhere)
  expect(await other.getByText('Модерация').count()).toBe(0)
})
