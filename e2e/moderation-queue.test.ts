import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { doubleTap, tap, write } from './testing/hands.ts'
import { type Journey, PHONE } from './testing/journey.ts'
import { act, reportByApi, signUpModerator, test } from './testing/moderation-actions.ts'
import { chooseFromMenu, focusedPost, postTexts, postWith } from './testing/page/feed.ts'
import { countRequests, goOffline, goOnline } from './testing/page/network.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'
import { typeRussian } from './testing/page/tab.ts'
import { endSessions, signInButton } from './testing/sign-in-actions.ts'

/** The browser sends a decision after this time. */
const DELAY_MS = 10_000
/** The calls to decide or to block. */
const ACTS = /moderation\/(posts|users)/

test('decisions by mouse or key show, and can be cancelled', async ({ journey, vera, queue }) => {
  for (const text of ['Первая', 'Вторая', 'Третья']) await queue.report(text)
  const page = await queue.visit(vera)
  const sent = countRequests(page, 'POST PUT', ACTS)
  const first = postWith(page, 'Первая')
  await act(first, 'Удалить')
  await expect.poll(() => focusedPost(page)).toBe('Вторая')
  await first.waitFor({ state: 'detached' })
  await page.getByText('Ждут решения: 2').waitFor()
  await tap(page.getByRole('status').getByRole('button', { name: 'Отменить' }))
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await page.getByText('Ждут решения: 3').waitFor()
  await act(first, 'Оставить')
  await toast(page, 'Запись оставлена').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await page.reload()
  await page.getByText('Ждут решения: 3').waitFor()
  expect(sent()).toBe(0)

  await expect.poll(() => focusedPost(page)).toBe('Первая')
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe('Вторая')
  // «о» is on the J key, «л» on the K key, «в» on the D key, «щ» on the O key.
  for (const [key, next] of [
    ['в', 'Третья'],
    ['л', 'Первая'],
    ['щ', 'Третья'],
  ] as const) {
    await typeRussian(page, key)
    await expect.poll(() => focusedPost(page)).toBe(next)
  }
  await page.keyboard.press('b')
  await closeByKey(await dialogOf(page, 'Заблокировать автора'))
  await page.goto(journey.url)
  const decided = { Первая: 'kept', Вторая: 'removed', Третья: 'open' }
  await expect.poll(() => verdicts(journey)).toEqual(decided)
})

test('a moderator who logs out sends the last decision, once', async ({ journey, queue }) => {
  const { id } = await queue.report('Спам на бегу')
  const moderator = await signUpModerator(journey)
  const page = await queue.visit(moderator)
  await act(postWith(page, 'Спам на бегу'), 'Удалить')
  await page.getByText('Жалоб нет').waitFor()
  await tap(page.getByRole('link', { name: `Профиль ${moderator.username}`, exact: true }))
  await tap(page.getByRole('button', { name: 'Выйти' }))
  await toast(page, 'Вы вышли').waitFor()
  const decisions = () => journey.rows('SELECT action FROM journal WHERE post_id = $1', [id])
  await expect.poll(decisions).toEqual([{ action: 'post.remove' }])
})

test('a decision that fails to be sent returns its report', async ({ journey, vera, queue }) => {
  await queue.report('Останется')
  const { id } = await queue.report('Решено без меня')
  const moderator = await signUpModerator(journey)
  const page = await queue.visit(moderator)
  await page.clock.install()
  const [left, decided] = [postWith(page, 'Останется'), postWith(page, 'Решено без меня')] as const
  const remove = async (card: Locator) => {
    await act(card, 'Удалить')
    await card.waitFor({ state: 'detached' })
  }
  await left.waitFor()
  await goOffline(page)
  await remove(left)
  await page.clock.fastForward(DELAY_MS)
  await toast(page, 'Решение не отправлено. Нет связи. Проверьте интернет и повторите').waitFor()
  await left.waitFor()
  await goOnline(page)

  const decision = { token: vera.token, body: { verdict: 'keep' } }
  await journey.call('POST', `/moderation/posts/${id}/decision`, decision)
  await remove(decided)
  await page.clock.fastForward(DELAY_MS)
  await toast(page, 'Об этой записи уже решили').waitFor()
  expect(await decided.count()).toBe(0)

  await remove(left)
  await endSessions(journey, moderator)
  await page.evaluate(() => new BroadcastChannel('session').postMessage(null))
  await signInButton(page).waitFor()
  await page.clock.fastForward(DELAY_MS)
  await toast(page, 'Решение не отправлено. Войдите, чтобы продолжить').waitFor()
  expect(await verdicts(journey)).toMatchObject({ Останется: 'open' })
})

test('a second tap does nothing to the card that has moved under it', async ({
  journey,
  vera,
  queue,
}) => {
  await queue.report('Первая')
  await queue.report('Вторая', await journey.signUp())
  const page = await journey.visit({
    as: vera,
    path: '/moderation',
    viewport: PHONE,
    hasTouch: true,
  })
  const button = postWith(page, 'Первая').getByRole('button', { name: /^Удалить/ })
  await button.scrollIntoViewIfNeeded()
  const place = await button.boundingBox()
  await doubleTap(page, { x: (place?.x ?? 0) + 20, y: (place?.y ?? 0) + 20 })
  await toast(page, 'Запись удалена').waitFor()
  await page.getByText('Ждут решения: 1').waitFor()
  await postWith(page, 'Вторая').waitFor()
})

test('all waiting posts of one author can be decided at once, and taken back', async ({
  journey,
  vera,
  petr,
  queue,
}) => {
  const anna = await journey.signUp()
  for (const text of ['Раз', 'Два', 'Три']) await queue.report(text, anna)
  await queue.report('Чужая', petr)
  const page = await queue.visit(vera)
  await tap(page.getByRole('button', { name: /^Удалить все\s\(3\)/ }))
  await toast(page, 'Записи удалены: 3').waitFor()
  await page.getByText('Ждут решения: 1').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Чужая')
  await page.keyboard.press('z')
  await page.getByText('Ждут решения: 4').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Раз')
  await tap(page.getByRole('button', { name: /^Оставить все\s\(3\)/ }))
  await toast(page, 'Записи оставлены: 3').waitFor()
  expect(await page.getByRole('button', { name: /^Удалить все/ }).count()).toBe(0)
  await page.goto(journey.url)
  const decided = { Раз: 'kept', Два: 'kept', Три: 'kept', Чужая: 'open' }
  await expect.poll(() => verdicts(journey)).toEqual(decided)
})

test('a post that three people report is hidden', async ({ journey, vera, petr, queue }) => {
  const people = await Promise.all([journey.signUp(), journey.signUp(), journey.signUp()])
  const post = await journey.publish(petr, 'Трижды неправда')
  for (const person of people) await reportByApi(journey, person, post)
  const card = postWith(await queue.visit(vera), 'Трижды неправда')
  await card.getByText('Пожаловались 3 человека').waitFor()
  await card.getByText('Скрыта до решения').waitFor()

  const author = await journey.visit({ as: petr, path: '/own/posts' })
  const hidden = author.getByRole('region', { name: 'Удалённые и скрытые' })
  await hidden.getByText('Скрыта до решения').waitFor()
  await hidden.getByText('Трижды неправда').waitFor()
  await hidden.getByText('На запись пожаловались несколько человек').waitFor()
  await author.goto(`${journey.url}/posts/${post.id}`)
  await author.getByText('Скрыта до решения').waitFor()
  await author.getByText('Трижды неправда').waitFor()
})

test('a block can remove the posts of a day, or be cancelled', async ({ journey, vera, queue }) => {
  const anna = await journey.signUp()
  const old = await queue.report('Старая запись', anna)
  await journey.rows(`UPDATE posts SET created_at = now() - interval '2 days'`)
  await queue.report('Спам первый', anna)
  await queue.report('Чужая запись')
  await queue.report('Спам второй', anna)
  await journey.publish(anna, 'Спам без жалобы')
  const page = await queue.visit(vera)
  const sent = countRequests(page, 'POST PUT', ACTS)
  await act(postWith(page, 'Спам первый'), /Заблокировать/)
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  const wave = dialog.getByLabel('Удалить все его записи за сутки (3)')
  const one = dialog.getByLabel('Удалить и эту запись')
  await wave.check()
  await one.uncheck()
  expect(await wave.isChecked()).toBe(false)
  await wave.check()
  expect(await one.isChecked()).toBe(true)
  await dialog.getByText('Все сессии автора завершатся').waitFor()
  await dialog.getByRole('radio', { name: 'Навсегда' }).check()
  // The second press of a double click falls on the page below, where it must do nothing.
  await dialog.getByRole('button', { name: 'Заблокировать' }).hover()
  await page.mouse.down({ clickCount: 1 })
  await page.mouse.up({ clickCount: 1 })
  await dialog.waitFor({ state: 'detached' })
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  await toast(page, 'Записи за сутки удалены, автор заблокирован').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Чужая запись')
  await page.getByText('Ждут решения: 2').waitFor()
  await postWith(page, 'Старая запись').getByText('Заблокирован навсегда').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Спам первый')
  await page.getByText('Ждут решения: 4').waitFor()
  expect(await page.getByText('Заблокирован').count()).toBe(0)
  expect(sent()).toBe(0)

  await act(postWith(page, 'Старая запись'), /Заблокировать/)
  await one.uncheck()
  await wave.check()
  await tap(dialog.getByRole('button', { name: 'Заблокировать' }))
  await postWith(page, 'Старая запись').getByText('Заблокирован до').waitFor()
  await page.getByText('Ждут решения: 2').waitFor()
  await page.goto(journey.url)
  const left = 'SELECT id FROM visible_posts WHERE owner_id = $1'
  await expect.poll(() => journey.rows(left, [anna.id])).toEqual([{ id: old.id }])
})

test('a moderator removes or blocks from a post’s menu', async ({ journey, vera, petr, queue }) => {
  const anna = await journey.signUp()
  for (const text of ['Грязь один', 'Грязь два']) await journey.publish(anna, text)
  const { id } = await journey.publish(petr, 'Лишняя запись')
  await queue.report('Обычная запись')
  const page = await journey.visit({ as: vera })
  await page.getByRole('link', { name: 'Модерация · 1' }).waitFor()
  const all = await postTexts(page)
  await chooseFromMenu(postWith(page, 'Грязь один'), 'Заблокировать автора…')
  const block = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await write(block.getByLabel('Причина'), 'Спам')
  await block.getByLabel('Удалить все его записи за сутки (2)').check()
  await tap(block.getByRole('button', { name: 'Заблокировать' }))
  await toast(page, 'Записи за сутки удалены, автор заблокирован').waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Обычная запись', 'Лишняя запись'])
  await tap(page.getByRole('status').getByRole('button', { name: 'Отменить' }))
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => postTexts(page)).toEqual(all)

  await chooseFromMenu(postWith(page, 'Лишняя запись'), 'Удалить как модератор…')
  const dialog = page.getByRole('dialog', { name: 'Удалить как модератор' })
  await dialog.getByText(`${petr.username}: с`).waitFor()
  await dialog.getByRole('radio', { name: 'Спам или реклама' }).check()
  await tap(dialog.getByRole('button', { name: 'Удалить', exact: true }))
  await toast(page, 'Запись удалена').waitFor()
  await postWith(page, 'Лишняя запись').waitFor({ state: 'detached' })
  await page.goto(journey.url)
  await expect.poll(async () => (await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  const acts = 'SELECT action, reason FROM journal'
  expect(await journey.rows(`${acts} WHERE post_id = $1 OR user_id = $2`, [id, anna.id])).toEqual([
    { action: 'post.remove', reason: 'Спам или реклама' },
  ])
})

async function verdicts(journey: Journey): Promise<Record<string, string>> {
  const rows = await journey.rows('SELECT post_text, state FROM reports')
  return Object.fromEntries(rows.map(({ post_text, state }) => [post_text, state]))
}
