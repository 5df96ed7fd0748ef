import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { PHONE, desktopTest as test } from './testing/journey.ts'
import { holdCalls, toast } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('settings on a phone: an account block, «Устройства» and «Выйти» in this order and in sight; each row leads to its page and back', async ({
  journey,
}) => {
  const user = await journey.signUp()
  const page = await journey.visit({ as: user, viewport: PHONE })
  await profileLink(page).click()
  await page.getByRole('heading', { name: 'Настройки' }).waitFor()
  const main = page.getByRole('main')
  const logOut = main.getByRole('button', { name: 'Выйти' })
  await logOut.waitFor()
  const groups = main.getByRole('heading', { level: 2 })
  expect(await groups.allTextContents()).toEqual(['Аккаунт', 'Лента и письма', 'Ваши данные'])
  const rows = await main.locator('a, button, h2').allInnerTexts()
  expect(rows.slice(0, 6)).toEqual([
    `${user.username}\nМоя страница`,
    'Аккаунт',
    `Электронная почта\n${user.email}`,
    `Имя пользователя\n${user.username}`,
    'Устройства',
    'Выйти',
  ])
  const [bottom, bar] = await Promise.all([
    logOut.boundingBox(),
    page.getByRole('navigation', { name: 'Разделы' }).boundingBox(),
  ])
  if (!bottom || !bar) throw new Error('the button and the bar are not shown')
  expect(bottom.y + bottom.height).toBeLessThanOrEqual(bar.y)

  for (const [row, form] of [
    [`Электронная почта ${user.email}`, 'Изменить электронную почту'],
    [`Имя пользователя ${user.username}`, 'Задать имя пользователя'],
    ['Устройства', 'Текущая сессия'],
    ['Мои жалобы', 'Жалоб нет'],
  ] as const) {
    await page.getByRole('link', { name: row, exact: true }).click()
    await page.getByRole('heading', { name: form, exact: true }).waitFor()
    await page.getByRole('button', { name: 'Назад' }).click()
    await page.getByRole('heading', { name: 'Настройки' }).waitFor()
  }
})

test('a browser can be set to hide the counts of likes and replies', async ({ journey }) => {
  const user = await journey.signUp()
  const { id } = await journey.publish(user, 'Сколько?')
  await journey.call('POST', `/posts/${id}/likes`, { token: user.token })
  const page = await journey.visit({ as: user, path: `/posts/${id}` })
  const count = page.getByRole('article').getByText('1', { exact: true })
  await count.waitFor()
  await page.goto(`${journey.url}/settings`)
  const choice = page.getByRole('checkbox', { name: 'Не показывать числа отметок и ответов' })
  await choice.check()
  await page.goto(`${journey.url}/posts/${id}`)
  await page.getByRole('button', { name: 'Нравится', pressed: true }).waitFor()
  expect(await count.isVisible()).toBe(false)
})

test('a name is checked in the browser as it is typed, and by the server once, 500 ms after the last key', async ({
  journey,
}) => {
  const page = await journey.visit({
    as: await journey.signUp(),
    path: '/settings/account/username',
  })
  const { field, error, status, save } = usernameForm(page)
  await field.waitFor()
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  const checks = await holdCalls(page, /\/validation$/)

  await field.fill('anna')
  await expect.poll(() => error.textContent()).toMatch(/не меньше 5 символов$/)
  await page.clock.runFor(600)
  await field.fill('free_name')
  await page.clock.runFor(499)
  await field.fill('free_name_1')
  await page.clock.runFor(499)
  expect(checks.methods).toEqual([])
  expect(await save.isDisabled()).toBe(true)
  await page.clock.runFor(1)
  await expect.poll(() => status.textContent()).toBe('Проверка имени пользователя...')
  expect(await save.isDisabled()).toBe(true)
  await page.clock.resume()
  checks.letGo()
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
  expect(await save.isEnabled()).toBe(true)
  expect(checks.methods).toEqual(['GET'])
})

test('a taken name is refused in any letter case, even if it was taken after the check; a saved one is in the settings, in the header and on the wall', async ({
  journey,
}) => {
  const [user, rival] = [await journey.signUp(), await journey.signUp()]
  await journey.publish(user, 'Меня зовут иначе.')
  const page = await journey.visit({ as: user })
  const post = page.getByRole('article').filter({ hasText: 'Меня зовут иначе.' })
  await post.getByText(user.username).waitFor()
  await profileLink(page).click()
  await page.getByRole('link', { name: /^Имя пользователя/ }).click()
  const { field, error, status, save } = usernameForm(page)
  expect(await field.inputValue()).toBe(user.username)
  await field.fill(rival.username.toUpperCase())
  await expect.poll(() => error.textContent()).toBe('Имя пользователя уже занято')
  expect(await save.isDisabled()).toBe(true)

  await field.fill('wanted_name')
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
  await journey.call('PATCH', '/users/current/profile', {
    token: rival.token,
    body: { username: 'Wanted_Name' },
  })
  await save.click()
  await expect.poll(() => error.textContent()).toBe('Имя пользователя уже занято')
  expect(await field.inputValue()).toBe('wanted_name')

  await field.fill('marfa_petrova')
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
  await save.click()
  await toast(page, 'Имя сохранено').waitFor()
  await page.getByRole('link', { name: 'Имя пользователя marfa_petrova' }).waitFor()
  await page.getByRole('link', { name: 'Профиль marfa_petrova' }).waitFor()
  // The form's entry was replaced in the history, so going back does not lead to it.
  await page.getByRole('button', { name: 'Назад' }).click()
  await page.waitForURL(`${journey.url}/`)
  // Going back loads nothing again.
  await post.getByText('marfa_petrova').waitFor()
  await page.getByRole('link', { name: 'Стена' }).click()
  await post.getByText('marfa_petrova').waitFor()
})

function usernameForm(page: Page) {
  const form = page.locator('form')
  return {
    field: form.getByLabel('Имя пользователя'),
    error: form.getByRole('alert'),
    status: form.getByRole('status'),
    save: form.getByRole('button', { name: 'Сохранить' }),
  }
}
