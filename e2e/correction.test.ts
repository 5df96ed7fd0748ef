import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, type Journey, test } from './testing/journey.ts'
import { chooseFromMenu, openMenu, postWith } from './testing/page/feed.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'

const CLARIFIES = /^Автор уточняет · /
const endEditPeriods = (journey: Journey) =>
  journey.rows(`UPDATE posts SET created_at = created_at - interval '11 minutes'`)

test('an author clarifies a post, which shows it on the wall and its page at once, and not twice', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Встречаемся в семь')
  await journey.reply(petr, post.id, 'Где?')
  await endEditPeriods(journey)
  const page = await journey.visit({ as: olga })
  const other = await page.context().newPage()
  await other.goto(page.url())
  await postWith(other, 'Встречаемся в семь').waitFor()
  await chooseFromMenu(postWith(page, 'Встречаемся в семь'), 'Уточнить')
  const dialog = await dialogOf(page, 'Уточнение')
  await write(dialog.getByRole('textbox', { name: 'Текст уточнения' }), 'В восемь, простите')
  await tap(dialog.getByRole('button', { name: 'Опубликовать' }))
  await toast(page, 'Опубликовано').waitFor()
  await dialog.waitFor({ state: 'detached' })
  for (const tab of [page, other]) {
    const card = postWith(tab, 'Встречаемся в семь')
    await card.getByText('В восемь, простите').waitFor()
    expect(await card.getByText(CLARIFIES).count()).toBe(1)
  }

  const permissions = ['clipboard-read', 'clipboard-write']
  const reader = await journey.visit({ as: petr, path: `/posts/${post.id}`, permissions })
  const detail = postWith(reader, 'Автор уточняет')
  await detail.getByText('В восемь, простите').waitFor()
  await chooseFromMenu(detail, 'Скопировать текст')
  await toast(reader, 'Текст скопирован').waitFor()
  const copied = await reader.evaluate(() => navigator.clipboard.readText())
  expect(copied).toBe('Встречаемся в семь\n\nАвтор уточняет: В восемь, простите')
  const texts = reader.getByText('В восемь, простите')
  await postWith(reader, 'Где?').waitFor()
  expect(await texts.count()).toBe(1)
  await tap(detail.getByRole('link', { name: /сейчас|назад/ }))
  // Its own page has it once, below the post that it clarifies.
  await reader.getByRole('heading', { name: 'Ответы' }).waitFor()
  await expect.poll(() => texts.count()).toBe(1)
  expect(await openMenu(postWith(reader, 'В восемь, простите'))).toBeDefined()
  await reader.getByRole('menuitem', { name: 'Пожаловаться' }).waitFor()
})

test('an unsent clarification is a draft; an author replaces one after an hour, takes it away, or deletes it', async ({
  journey,
  olga,
}) => {
  const post = await journey.publish(olga, 'Встречаемся в семь')
  await endEditPeriods(journey)
  const page = await journey.visit({ as: olga, path: `/posts/${post.id}` })
  const detail = postWith(page, 'Встречаемся в семь')
  await chooseFromMenu(detail, 'Уточнить')
  const field = page.getByRole('textbox', { name: 'Текст уточнения' })
  await write(field, 'В восемь')
  await closeByKey(await dialogOf(page, 'Уточнение'))
  await toast(page, 'Черновик сохранён').waitFor()
  await page.reload()
  await chooseFromMenu(detail, 'Уточнить')
  await expect.poll(() => field.inputValue()).toBe('В восемь')
  await page.keyboard.press('Control+Enter')
  await detail.getByText(CLARIFIES).waitFor()

  await chooseFromMenu(detail, 'Заменить уточнение')
  await write(field, 'В девять')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('alert').getByText('Запись можно уточнить раз в час').waitFor()
  await journey.passLimitTime(3600)
  await page.keyboard.press('Control+Enter')
  await detail.getByText('В девять').waitFor()
  // What was replaced is a reply like any other.
  await page.getByRole('feed', { name: 'Ответы' }).getByText('В восемь').waitFor()
  expect(await page.getByText('В девять').count()).toBe(1)

  await chooseFromMenu(detail, 'Убрать уточнение')
  await page.getByRole('feed', { name: 'Ответы' }).getByText('В девять').waitFor()
  expect(await detail.getByText(CLARIFIES).count()).toBe(0)

  await journey.passLimitTime(3600)
  await chooseFromMenu(detail, 'Уточнить')
  await write(field, 'В десять')
  await page.keyboard.press('Control+Enter')
  await tap(detail.getByRole('link', { name: 'сейчас' }))
  await chooseFromMenu(postWith(page, /^(?!.*Встречаемся).*В десять/s), 'Удалить')
  const ask = await dialogOf(page, 'Удалить ответ?')
  await tap(ask.getByRole('button', { name: 'Удалить' }))
  await toast(page, 'Удалено').waitFor()
  await page.goto(new URL(`/posts/${post.id}`, page.url()).href)
  await detail.waitFor()
  expect(await page.getByText('В десять').count()).toBe(0)
})

test('a quote of a clarified post has the clarification, also without scripts', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Встречаемся в семь')
  await journey.reply(petr, post.id, 'Приду')
  await endEditPeriods(journey)
  const sent = { token: olga.token, body: { text: 'В восемь' } }
  await journey.call('POST', `/posts/${post.id}/clarification`, sent)
  const path = `/users/${petr.username}/replies`
  for (const javaScriptEnabled of [true, false]) {
    const page = await journey.visit({
      ...{ path, viewport: DESKTOP, javaScriptEnabled, waitsForScripts: javaScriptEnabled },
    })
    await postWith(page, 'Приду').getByText('Автор уточняет: В восемь').waitFor()
  }
  const page = await journey.visit({ javaScriptEnabled: false, waitsForScripts: false })
  await postWith(page, 'Встречаемся в семь').getByText('В восемь').waitFor()
})
