import type { Route } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { PHONE, test } from './testing/journey.ts'
import { startPost, submitPost, textField } from './testing/page/compose.ts'
import {
  chooseFromMenu,
  newPosts,
  openMenu,
  openThread,
  postTexts,
  postWith,
  switchView,
} from './testing/page/feed.ts'
import { boxOf, styleOf } from './testing/page/layout.ts'
import { REFUSED } from './testing/page/network.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'
import { depth } from './testing/page/tab.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('Ctrl+Enter publishes once; «Смотреть» keeps a new text', async ({ journey, olga }) => {
  await journey.publish(olga, 'Прежняя запись')
  const page = await journey.visit({ as: olga, before: (it) => it.clock.install() })
  await postWith(page, 'Прежняя запись').waitFor()
  const dialog = await startPost(page)
  await write(textField(dialog), '  Первое слово\n\nи второе  ')
  // Even while the dialog of a published text is closing.
  while ((await dialog.count()) > 0) await page.keyboard.press('Control+Enter')
  await toast(page, 'Опубликовано').waitFor()
  // The clock runs until then, and cannot go back. The toast has more than two seconds left.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  expect(await postTexts(page)).toEqual(['Первое слово\n\nи второе', 'Прежняя запись'])
  expect((await journey.call('GET', '/posts')).body.total).toBe(2)
  await startPost(page)
  // The dialog becomes modal, and shows toasts, after a frame that the paused clock holds back.
  await page.clock.runFor(100)
  await write(textField(dialog), 'Ещё не на стене')
  expect(await dialog.getByRole('status').getByText('Опубликовано').count()).toBe(1)
  const look = page.getByRole('link', { name: 'Смотреть', exact: true })
  // A toast stays while it has the focus, even if the pointer leaves it.
  await look.focus()
  await look.hover()
  await page.mouse.move(0, 0)
  await page.clock.runFor(10_000)
  await tap(look)
  await page.waitForURL('**/posts/*')
  await page.clock.resume()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Запись', exact: true }).waitFor()
  await postWith(page, 'Первое слово').waitFor()
  expect(await textField(await startPost(page)).inputValue()).toBe('Ещё не на стене')
})

test('new posts of others are offered, and one’s own are not', async ({ journey, olga, petr }) => {
  const page = await journey.visit({ as: olga })
  const gate = Promise.withResolvers<void>()
  const delay = async (route: Route) => {
    const response = await route.fetch()
    await gate.promise
    await route.fulfill({ response })
  }
  await page.route('**/api/v1/posts', delay, { times: 1 })
  await submitPost(page, 'Ответ придёт позже новости')
  const offer = newPosts(page)
  await offer.waitFor()
  gate.resolve()
  const post = postWith(page, 'Ответ придёт позже новости')
  await post.waitFor()
  await offer.waitFor({ state: 'detached' })

  await chooseFromMenu(post, 'Удалить')
  const dialog = await dialogOf(page, 'Удалить запись?')
  await tap(dialog.getByRole('button', { name: 'Удалить' }))
  await post.waitFor({ state: 'detached' })
  expect(await offer.count()).toBe(0)

  // An event names the newest post alone, so one's own waits until this one was offered.
  await journey.publish(petr, 'Чужая новость')
  await offer.waitFor()
  await (await submitPost(page, 'Своя новость')).waitFor({ state: 'detached' })
  await tap(offer)
  await postWith(page, 'Чужая новость').waitFor()
  expect(await postTexts(page)).toEqual(['Своя новость', 'Чужая новость'])
})

test('an edit has a countdown, and marks the post as edited', async ({ journey, olga }) => {
  const post = await journey.publish(olga, 'Опечатка')
  const page = await journey.visit({ as: olga })
  await chooseFromMenu(postWith(page, 'Опечатка'), 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  const text = textField(dialog)
  const save = dialog.getByRole('button', { name: 'Сохранить' })
  expect(await text.inputValue()).toBe('Опечатка')
  expect(await save.isDisabled()).toBe(true)
  const left = dialog.getByText(/^Осталось \d+:\d\d$/)
  const before = await left.innerText()
  await left.and(dialog.getByText(before)).waitFor({ state: 'detached' })
  expect((await left.innerText()) < before || before.includes('10:')).toBe(true)

  await write(text, 'Опечатка ')
  expect(await save.isDisabled()).toBe(true)
  await write(text, 'Без опечатки')
  await page.keyboard.press('Control+Enter')
  await toast(page, 'Изменено').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await postWith(page, 'Без опечатки').getByText('изменено').waitFor()
  await page.clock.install()
  await page.goto(`${journey.url}/posts/${post.id}`)
  await postWith(page, 'Без опечатки').getByText('изменено').waitFor()
  // A menu that opens before the viewer is known has no item to edit yet, and focuses another.
  await profileLink(page).waitFor()

  // The item that has the focus disappears.
  const menu = await openMenu(postWith(page, 'Без опечатки'))
  const edit = menu.getByRole('menuitem', { name: 'Изменить' })
  await edit.and(page.locator(':focus')).waitFor()
  await page.clock.fastForward('10:00')
  await edit.waitFor({ state: 'detached' })
  await closeByKey(menu)
})

test('a late edit can be copied, sent as a reply or discarded', async ({ journey, olga }) => {
  const { id } = await journey.publish(olga, 'Не успею')
  await journey.reply(olga, id, 'Не вернулся вовремя')
  const page = await journey.visit({
    as: olga,
    path: `/posts/${id}`,
    before: (it) => it.clock.install(),
  })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const dialog = page.getByRole('dialog', { name: /^Изменение/ })
  const left = postWith(page, 'Не вернулся вовремя')
  await chooseFromMenu(left, 'Изменить')
  await dialogOf(page, 'Изменение ответа')
  await write(textField(dialog), 'Вернулся поздно')
  await closeByKey(dialog)
  await chooseFromMenu(postWith(page, 'Не успею'), 'Изменить')
  await write(textField(dialog), 'Дописал\tслишком поздно')
  await page.clock.fastForward('10:01')
  const alert = dialog.getByRole('alert')
  const expired = alert.getByText('Время изменения записи истекло', { exact: true })
  await expired.waitFor()
  await dialog.locator('textarea:focus').waitFor()
  // A phone at 400 %: the buttons leave the text its room.
  await page.setViewportSize({ width: 320, height: 256 })
  const buttons = await boxOf(dialog.locator('footer'))
  expect(buttons.top).toBeGreaterThanOrEqual((await boxOf(textField(dialog))).bottom)
  await page.setViewportSize(PHONE)

  await tap(dialog.getByRole('button', { name: 'Скопировать текст' }))
  await dialog.getByRole('status').getByText('Текст скопирован').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Дописал\tслишком поздно')
  const reply = dialog.getByRole('button', { name: 'Отправить ответом' })
  await page.route('**/replies', (route) => route.fulfill(REFUSED), { times: 1 })
  await tap(reply)
  await alert.getByText(REFUSED.json.message).waitFor()
  expect(await dialog.getByText('Текст скопирован').count()).toBe(0)
  await tap(reply)
  await dialog.waitFor({ state: 'detached' })
  await toast(page, 'Опубликовано').waitFor()

  const unsaved = page.getByRole('menuitem', { name: 'Несохранённая правка' })
  await openMenu(left)
  await tap(unsaved)
  await expired.waitFor()
  expect(await dialog.getByLabel('Текст ответа').inputValue()).toBe('Вернулся поздно')
  await tap(dialog.getByRole('button', { name: 'Удалить текст' }))
  await dialog.waitFor({ state: 'detached' })
  await openMenu(left)
  expect(await unsaved.count()).toBe(0)
  await page.keyboard.press('Escape')
  await postWith(page, 'Дописал слишком поздно').waitFor()
})

test('a deletion asks first, and leads from the post to the wall', async ({ journey, olga }) => {
  const other = await journey.publish(olga, 'Удалена в другом окне')
  await journey.publish(olga, 'Удалится')
  const page = await journey.visit({ as: olga })
  const dialog = page.getByRole('dialog', { name: 'Удалить запись?' })
  const remove = dialog.getByRole('button', { name: 'Удалить' })
  await chooseFromMenu(postWith(page, 'Удалится'), 'Удалить')
  expect(await styleOf(remove, 'background-color')).toBe('rgb(194, 51, 76)')
  await tap(dialog.getByRole('button', { name: 'Отмена' }))
  await dialog.waitFor({ state: 'detached' })
  expect(await postTexts(page)).toEqual(['Удалится', 'Удалена в другом окне'])

  await openThread(page, 'Удалится')
  await chooseFromMenu(postWith(page, 'Удалится'), 'Удалить')
  await tap(remove)
  await page.waitForURL(`${journey.url}/`)
  // The wall is in the history once, so that «Назад» leads out of it.
  expect(await depth(page)).toBe(0)
  await toast(page, 'Удалено').waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Удалена в другом окне'])

  await journey.call('DELETE', `/posts/${other.id}`, { token: olga.token })
  await chooseFromMenu(postWith(page, 'Удалена в другом окне'), 'Удалить')
  await tap(remove)
  await toast(page, 'Сообщение не найдено').waitFor()
  await expect.poll(() => page.getByRole('article').count()).toBe(0)
})

test('an old post is deleted and rewritten without losing its text', async ({ journey, olga }) => {
  await journey.fillWall(olga, 1, 'Перепишу')
  await journey.rows("UPDATE posts SET created_at = created_at - interval '1 hour'")
  const page = await journey.visit({ as: olga })
  await page.route('**/api/v1/posts/*', (route) => route.abort(), { times: 1 })
  await chooseFromMenu(postWith(page, 'Перепишу 1'), 'Написать заново')
  const dialog = page.getByRole('dialog', { name: 'Удалить запись?' })
  const remove = dialog.getByRole('button', { name: 'Удалить и переписать' })
  await tap(remove)
  await dialog.getByRole('alert').waitFor()
  await tap(remove)
  const form = page.getByRole('dialog', { name: 'Новая запись' })
  await expect.poll(() => form.getByRole('textbox').inputValue()).toBe('Перепишу 1')
  await write(form.getByRole('textbox'), 'Переписал')
  await tap(form.getByRole('button', { name: 'Опубликовать' }))
  await form.waitFor({ state: 'detached' })
  await expect.poll(() => postTexts(page)).toEqual(['Переписал'])
})

test('a late deletion shows its failure, and opens nothing', async ({ journey, olga }) => {
  const post = await journey.publish(olga, 'Удаляется долго')
  await journey.rows("UPDATE posts SET created_at = created_at - interval '1 hour'")
  const page = await journey.visit({ as: olga, path: '/liked' })
  await switchView(page, 'Новые')
  await openThread(page, 'Удаляется долго')
  const answers: ('lost' | 'passed')[] = ['lost', 'passed']
  let gate = Promise.withResolvers<void>()
  await page.route(`**/api/v1/posts/${post.id}`, async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue()
    await gate.promise
    return answers.shift() === 'lost' ? route.abort() : route.continue()
  })
  const dialog = page.getByRole('dialog', { name: 'Удалить запись?' })
  const remove = dialog.getByRole('button', { name: 'Удалить и переписать' })
  await chooseFromMenu(postWith(page, 'Удаляется долго'), 'Написать заново')
  await tap(remove)
  await closeByKey(dialog)
  gate.resolve()
  await toast(page, 'Не удалено. Сервер не отвечает. Попробуйте чуть позже').waitFor()
  gate = Promise.withResolvers()
  await tap(page.getByRole('button', { name: 'Вернуться' }))
  await tap(remove)
  await closeByKey(dialog)
  // The closed dialog steps back by itself.
  await expect.poll(() => depth(page)).toBe(2)

  await page.goBack()
  await page.goBack()
  await page.waitForURL('**/liked')
  gate.resolve()
  await toast(page, 'Удалено').waitFor()
  expect(new URL(page.url()).pathname).toBe('/liked')
  expect(await page.getByRole('dialog').count()).toBe(0)
})
