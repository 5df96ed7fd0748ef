import { expect } from 'vitest'
import { test } from './testing/journey.ts'
import {
  chooseFromMenu,
  openMenu,
  openThread,
  postWith,
  refuseToCopy,
  textField,
  toast,
} from './testing/page-actions.ts'

test('the edit dialog counts down the remaining time, and an edited post shows «Изменено» everywhere', async ({
  journey,
  olga,
}) => {
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

test('when the edit period ends, the text in the dialog can be copied or sent as a reply, and an unfinished one is in the menu until it is discarded', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Не вернулся вовремя')
  await journey.publish(olga, 'Не успею')
  const page = await journey.visit({ as: olga, before: (page) => page.clock.install() })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const dialog = page.getByRole('dialog', { name: 'Изменение записи' })
  const left = postWith(page, 'Не вернулся вовремя')
  await chooseFromMenu(left, 'Изменить')
  await textField(dialog).fill('Вернулся поздно')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await chooseFromMenu(postWith(page, 'Не успею'), 'Изменить')
  await textField(dialog).fill('Дописал\tслишком поздно')
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

  const unsaved = page.getByRole('menuitem', { name: 'Несохранённая правка' })
  await openMenu(left)
  await unsaved.click()
  await expired.waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вернулся поздно')
  await dialog.getByRole('button', { name: 'Удалить текст' }).click()
  await dialog.waitFor({ state: 'detached' })
  await openMenu(left)
  expect(await unsaved.count()).toBe(0)
  await page.keyboard.press('Escape')
  await openThread(page, 'Не успею')
  await postWith(page, 'Дописал слишком поздно').waitFor()
})
