import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import {
  chooseFromMenu,
  openMenu,
  openThread,
  postWith,
  refuseToCopy,
  toast,
} from './testing/page-actions.ts'

const MUTE = 'Не сообщать об этой записи'
const COPY = 'Скопировать текст'
const REWRITE = 'Удалить и написать заново'

test('the edit dialog counts down the remaining time, and an edited post shows «Изменено» everywhere', async ({
  journey,
  olga,
}) => {
  const post = await journey.publish(olga, 'Опечатка')
  const page = await journey.visit({ as: olga })
  await chooseFromMenu(postWith(page, 'Опечатка'), 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  const text = dialog.getByRole('textbox', { name: 'Текст записи' })
  const save = dialog.getByRole('button', { name: 'Сохранить' })
  expect(await text.inputValue()).toBe('Опечатка')
  expect(await save.isDisabled()).toBe(true)
  const left = dialog.getByText(/^Осталось \d+:\d\d$/)
  const before = await left.innerText()
  await left.and(dialog.getByText(before)).waitFor({ state: 'detached' })
  expect((await left.innerText()) < before || before.includes('10:')).toBe(true)

  await text.fill('Опечатка ')
  expect(await save.isDisabled()).toBe(true)
  await text.fill('Без опечатки')
  await page.keyboard.press('Control+Enter')
  await toast(page, 'Изменено').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await postWith(page, 'Без опечатки').getByText('изменено').waitFor()
  await page.goto(`${journey.url}/posts/${post.id}`)
  await postWith(page, 'Без опечатки').getByText('изменено').waitFor()
})

test('when the edit period ends while the dialog is open, the text can be copied, or sent as a reply', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Не успею')
  const page = await journey.visit({ as: olga, before: (page) => page.clock.install() })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await chooseFromMenu(postWith(page, 'Не успею'), 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  await dialog.getByRole('textbox', { name: 'Текст записи' }).fill('Дописал\tслишком поздно')
  await page.clock.fastForward('10:01')
  const expired = dialog
    .getByRole('alert')
    .getByText('Время изменения записи истекло', { exact: true })
  await expired.waitFor()

  const acts = await dialog.getByRole('contentinfo').getByRole('button').all()
  const boxes = await Promise.all(acts.map((it) => it.boundingBox()))
  expect(new Set(boxes.map((box) => `${box?.x} ${box?.width}`)).size).toBe(1)
  expect(new Set(boxes.map((box) => box?.y)).size).toBe(3)
  await dialog.getByRole('button', { name: 'Скопировать текст' }).click()
  await dialog.getByRole('status').getByText('Текст скопирован').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('Дописал\tслишком поздно')
  await page.evaluate(refuseToCopy)
  await dialog.getByRole('button', { name: 'Скопировать текст' }).click()
  await dialog.getByRole('status').getByText('Не получилось скопировать').waitFor()
  await dialog.getByRole('button', { name: 'Отправить ответом' }).click()
  await dialog.waitFor({ state: 'detached' })
  await toast(page, 'Опубликовано').waitFor()
  await openThread(page, 'Не успею')
  await postWith(page, 'Дописал слишком поздно').waitFor()
  const menu = await openMenu(postWith(page, 'Не успею').first())
  expect(await menu.getByRole('menuitem').allInnerTexts()).toEqual([
    'Скопировать ссылку',
    COPY,
    MUTE,
    REWRITE,
    'Удалить',
  ])
})

test('a changed text whose edit period ended while the dialog was closed is in the menu until it is discarded', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Не вернулся вовремя')
  const page = await journey.visit({ as: olga, before: (page) => page.clock.install() })
  const post = postWith(page, 'Не вернулся вовремя')
  await chooseFromMenu(post, 'Изменить')
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  const text = dialog.getByRole('textbox', { name: 'Текст записи' })
  await text.fill('Вернулся поздно')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.clock.fastForward('10:01')

  const items = (await openMenu(post)).getByRole('menuitem')
  await expect
    .poll(() => items.allInnerTexts())
    .toEqual(['Несохранённая правка', 'Скопировать ссылку', COPY, MUTE, REWRITE, 'Удалить'])
  await items.first().click()
  await dialog.getByRole('alert').getByText('Время изменения записи истекло').waitFor()
  expect(await text.inputValue()).toBe('Вернулся поздно')
  await dialog.getByRole('button', { name: 'Удалить текст' }).click()
  await dialog.waitFor({ state: 'detached' })
  await openMenu(post)
  expect(await items.allInnerTexts()).toEqual([
    'Скопировать ссылку',
    COPY,
    MUTE,
    REWRITE,
    'Удалить',
  ])
})
