import { expect } from 'vitest'
import { test as onWall } from './testing/journey.ts'
import { act, moderated, recordActs } from './testing/moderation-actions.ts'
import { chooseFromMenu, focusedPost, postTexts, postWith, toast } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

const test = moderated(onWall)

test('blocking an author can remove all their posts of the last day; cancelling it keeps them all and leaves the author unaffected', async ({
  journey,
  vera,
  publishReported,
  visitQueue,
}) => {
  const anna = await journey.signUp()
  const old = await publishReported('Старая запись', anna)
  await journey.sql.query(`UPDATE posts SET created_at = now() - interval '2 days'`)
  await publishReported('Спам первый', anna)
  await publishReported('Чужая запись')
  await publishReported('Спам второй', anna)
  await journey.publish(anna, 'Спам без жалобы')
  const page = await visitQueue(vera)
  const sent = recordActs(page)
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
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  await toast(page, 'Записи за сутки удалены, автор заблокирован').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Чужая запись')
  await page.getByText('Ждут решения: 2').waitFor()
  await postWith(page, 'Старая запись').getByText('Заблокирован навсегда').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Решение отменено').waitFor()
  await expect.poll(() => focusedPost(page)).toBe('Спам первый')
  await page.getByText('Ждут решения: 4').waitFor()
  expect(await page.getByText('Заблокирован').count()).toBe(0)
  expect(sent).toEqual([])

  await act(postWith(page, 'Старая запись'), /Заблокировать/)
  await one.uncheck()
  await wave.check()
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  await postWith(page, 'Старая запись').getByText('Заблокирован до').waitFor()
  await page.getByText('Ждут решения: 2').waitFor()
  await page.goto(journey.url)
  const left = 'SELECT id FROM visible_posts WHERE owner_id = $1'
  await expect.poll(() => journey.rows(left, [anna.id])).toEqual([{ id: old.id }])
})

test('on the wall a moderator removes a post, reported or not, or blocks its author, from its menu; cancelling restores it; no other user has that menu', async ({
  journey,
  vera,
  olga,
  petr,
  publishReported,
}) => {
  const anna = await journey.signUp()
  for (const text of ['Грязь один', 'Грязь два']) await journey.publish(anna, text)
  const { id } = await journey.publish(petr, 'Лишняя запись')
  await publishReported('Обычная запись')
  const page = await journey.visit({ as: vera })
  await page.getByRole('link', { name: 'Модерация · 1' }).waitFor()
  const all = await postTexts(page)
  const cancel = async () => {
    await page.getByRole('status').getByRole('button', { name: 'Отменить' }).click()
    await toast(page, 'Решение отменено').waitFor()
    await expect.poll(() => postTexts(page)).toEqual(all)
  }
  const remove = async () => {
    await chooseFromMenu(postWith(page, 'Лишняя запись'), 'Удалить как модератор…')
    const dialog = page.getByRole('dialog', { name: 'Удалить как модератор' })
    await dialog.getByText(`${petr.username}: с`).waitFor()
    await dialog.getByRole('radio', { name: 'Спам или реклама' }).check()
    await dialog.getByRole('button', { name: 'Удалить', exact: true }).click()
    await toast(page, 'Запись удалена').waitFor()
    await postWith(page, 'Лишняя запись').waitFor({ state: 'detached' })
  }
  await remove()
  await cancel()
  await chooseFromMenu(postWith(page, 'Грязь один'), 'Заблокировать автора…')
  const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
  await dialog.getByLabel('Причина').fill('Спам')
  await dialog.getByLabel('Удалить все его записи за сутки (2)').check()
  await dialog.getByRole('button', { name: 'Заблокировать' }).click()
  await toast(page, 'Записи за сутки удалены, автор заблокирован').waitFor()
  await expect.poll(() => postTexts(page)).toEqual(['Обычная запись', 'Лишняя запись'])
  await cancel()

  await remove()
  await page.goto(journey.url)
  await expect.poll(async () => (await journey.call('GET', `/posts/${id}`)).status).toBe(404)
  const acts = 'SELECT action, reason FROM journal'
  expect(await journey.rows(`${acts} WHERE post_id = $1 OR user_id = $2`, [id, anna.id])).toEqual([
    { action: 'post.remove', reason: 'Спам или реклама' },
  ])
  const other = await journey.visit({ as: olga })
  await profileLink(other).waitFor()
  await postWith(other, 'Обычная запись').getByRole('button', { name: 'Ещё' }).click()
  await other.getByRole('menuitem', { name: 'Пожаловаться' }).waitFor()
  expect(await other.getByRole('menuitem', { name: /модератор|Заблокировать/ }).count()).toBe(0)
  expect(await other.getByRole('link', { name: /^Модерация/ }).count()).toBe(0)
})
