import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectNoBarrier } from './testing/axe.ts'
import { tap, typeOn, write } from './testing/hands.ts'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { startPost, textField } from './testing/page/compose.ts'
import { postTexts, postWith } from './testing/page/feed.ts'
import { boxOf, styleOf } from './testing/page/layout.ts'
import { dialogOf, toast } from './testing/page/overlays.ts'

const options = (page: Page) => page.getByRole('listbox', { name: 'Имена' }).getByRole('option')

/** The option that a screen reader reads while the focus is in the field. */
async function activeOption(field: Locator): Promise<string | undefined> {
  return field.evaluate((it) => {
    const id = it.getAttribute('aria-activedescendant') ?? ''
    return document.getElementById(id)?.textContent ?? undefined
  })
}

test('a name is completed by keyboard, sent, and read by who is mentioned', async ({
  journey,
  olga,
  petr,
}) => {
  const vera = await journey.signUp()
  for (const author of [petr, vera]) await journey.publish(author, 'Я тут есть')
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  const dialog = await startPost(page)
  const field = textField(dialog)
  const start = petr.username.slice(0, 2)
  await write(field, `Спросите @${start}`)
  await options(page).getByText(petr.username, { exact: true }).waitFor()
  await expectNoBarrier(page, 'names')
  const names = await options(page).allTextContents()
  expect(names).toEqual([...names].sort())
  expect(await activeOption(field)).toBe(names[0])
  await field.press('ArrowUp')
  expect(await activeOption(field)).toBe(names.at(-1))
  await field.press('Escape')
  await options(page).first().waitFor({ state: 'hidden' })
  expect(await dialog.isVisible()).toBe(true)

  await typeOn(field, petr.username.slice(2, -1))
  await options(page).first().waitFor({ state: 'hidden' })
  await write(field, `Спросите @${petr.username.slice(0, -1)}`)
  await options(page).getByText(petr.username, { exact: true }).waitFor()
  while ((await activeOption(field)) !== petr.username) await field.press('ArrowDown')
  await field.press('Enter')
  expect(await field.inputValue()).toBe(`Спросите @${petr.username} `)
  await field.press('ControlOrMeta+Z')
  expect(await field.inputValue()).toBe(`Спросите @${petr.username.slice(0, -1)}`)
  await field.press('ControlOrMeta+Shift+Z')
  await typeOn(field, 'об этом')
  await tap(dialog.getByRole('button', { name: 'Опубликовать' }))
  await toast(page, 'Опубликовано').waitFor()
  const text = `Спросите @${petr.username} об этом`
  const link = postWith(page, text).getByRole('link', { name: `@${petr.username}` })
  expect(await link.getAttribute('href')).toBe(`/users/${petr.username}`)

  const read = await journey.visit({ as: petr, viewport: DESKTOP })
  await tap(read.getByRole('link', { name: 'Ответы мне, новых: 1' }))
  await postWith(read, text).getByText('Вас упомянули', { exact: true }).waitFor()
  expect(await read.getByText('Новый ответ').count()).toBe(0)
  await read.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  await tap(postWith(read, text).getByRole('link', { name: `@${petr.username}` }))
  await read.waitForURL(`**/users/${petr.username}`)
})

test('on a phone a tap completes a name of the thread, and the keyboard stays', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(petr, 'Кто со мной?')
  const vera = await journey.signUp()
  await journey.reply(vera, post.id, 'Я с вами')
  const page = await journey.visit({ as: olga, viewport: PHONE, hasTouch: true })
  await tap(postWith(page, 'Кто со мной?').getByRole('button', { name: 'Ответить' }))
  const field = textField(await dialogOf(page, 'Ответ'))
  await write(field, `И я, @${vera.username.slice(0, 3)}`)
  const option = options(page).getByText(vera.username, { exact: true })
  await option.waitFor()
  const list = await boxOf(page.getByRole('listbox', { name: 'Имена' }))
  expect(list.left).toBeGreaterThanOrEqual(0)
  expect(list.right).toBeLessThanOrEqual(PHONE.width)
  expect(list.top).toBeGreaterThan((await boxOf(field)).top)
  expect((await boxOf(options(page).first())).height).toBeGreaterThanOrEqual(44)
  await option.tap()
  await options(page).first().waitFor({ state: 'hidden' })
  expect(await field.inputValue()).toBe(`И я, @${vera.username} `)
  expect(await field.evaluate((it) => it === document.activeElement)).toBe(true)
  await typeOn(field, 'с вами')
  await tap(page.getByRole('button', { name: 'Опубликовать' }))

  const read = await journey.visit({ as: vera, viewport: PHONE, path: '/replies' })
  const text = `И я, @${vera.username} с вами`
  await expect.poll(() => postTexts(read)).toEqual([text])
  await postWith(read, text).getByText('Вас упомянули', { exact: true }).waitFor()
})

test('the list moves and covers nothing in the field of a thread', async ({
  journey,
  olga,
  petr,
}) => {
  const { id } = await journey.publish(petr, 'Кто со мной?')
  const page = await journey.visit({ as: olga, path: `/posts/${id}`, viewport: DESKTOP })
  const field = page.getByRole('textbox', { name: 'Ваш ответ' })
  await write(field, 'Ответ ')
  const before = await boxOf(field)
  await typeOn(field, `@${petr.username.slice(0, 3)}`)
  await options(page).first().waitFor()
  const [list, after] = [await boxOf(page.getByRole('listbox')), await boxOf(field)]
  expect([after.top, after.height]).toEqual([before.top, before.height])
  expect(list.top).toBeGreaterThan(before.top + before.height / 2)
  const copy = field.locator('xpath=following-sibling::*')
  expect(await styleOf(copy, 'visibility')).toBe('hidden')
  await page.getByRole('heading', { name: 'Запись' }).click()
  await options(page).first().waitFor({ state: 'hidden' })
})

test('a rename of who is mentioned changes the link, not the text', async ({ journey, petr }) => {
  const vera = await journey.signUp()
  const { id } = await journey.publish(petr, `Слово @${vera.username}!`)
  const renamed = `new_${vera.username}`.slice(0, 32)
  const { token } = vera
  await journey.call('PATCH', '/users/current/profile', { token, body: { username: renamed } })
  const page = await journey.visit({ path: `/posts/${id}` })
  const link = page.getByRole('link', { name: `@${vera.username}`, exact: true })
  expect(await link.getAttribute('href')).toBe(`/users/${renamed}`)
  await page.getByText(`Слово @${vera.username}!`).waitFor()
})
