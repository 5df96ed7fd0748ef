import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { PHONE, desktopTest as test } from './testing/journey.ts'
import { postWith } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { goOffline, goOnline, holdCalls } from './testing/page/network.ts'
import { toast } from './testing/page/overlays.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('on a phone account, devices and «Выйти» need no scrolling', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, viewport: PHONE })
  await tap(profileLink(page))
  await page.getByRole('heading', { name: 'Настройки' }).waitFor()
  const main = page.getByRole('main')
  const logOut = main.getByRole('button', { name: 'Выйти' })
  await logOut.waitFor()
  const groups = main.getByRole('heading', { level: 2 })
  expect(await groups.allTextContents()).toEqual(['Аккаунт', 'Лента и письма', 'Ваши данные'])
  const account = ['Моя страница', olga.email, 'Имя пользователя', 'Устройства']
  const rows = [...account.map((name) => main.getByRole('link', { name })), logOut]
  const bar = await boxOf(page.getByRole('navigation', { name: 'Разделы' }))
  for (const row of rows) expect((await boxOf(row)).bottom).toBeLessThanOrEqual(bar.top)
  await tap(page.getByRole('link', { name: 'Мои жалобы' }))
  await page.getByRole('heading', { name: 'Жалоб нет' }).waitFor()
  await tap(page.getByRole('button', { name: 'Назад' }))
  await logOut.waitFor()
})

test('counts can be hidden, mails about replies stopped', async ({ journey, olga }) => {
  const { id } = await journey.publish(olga, 'Сколько?')
  await journey.call('POST', `/posts/${id}/likes`, { token: olga.token })
  const page = await journey.visit({ as: olga, path: `/posts/${id}` })
  const count = page.getByRole('article').getByText('1', { exact: true })
  await count.waitFor()
  await page.goto(`${journey.url}/settings`)
  const mails = page.getByRole('checkbox', { name: 'Письма об ответах' })
  expect(await mails.isChecked()).toBe(true)
  // The last choice shows and counts, even while earlier ones are being saved.
  const saving = await holdCalls(page, '**/reply-mails')
  for (const isOn of [false, true, false]) {
    await tap(mails)
    await expect.poll(() => mails.isChecked()).toBe(isOn)
  }
  saving.letGo()
  await expect.poll(() => saving.methods.length).toBe(3)
  const wantsMail = async () => (await journey.read('/users/current/received', olga)).wantsMail
  await expect.poll(wantsMail).toBe(false)
  await page.reload()
  await expect.poll(() => mails.isChecked()).toBe(false)
  await page.getByRole('checkbox', { name: 'Не показывать числа отметок и ответов' }).check()
  await page.goto(`${journey.url}/posts/${id}`)
  await page.getByRole('button', { name: 'Нравится', pressed: true }).waitFor()
  expect(await count.isVisible()).toBe(false)
})

test('the feed of what was received is named, and says whom it has', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings' })
  const link = page.getByRole('link', { name: 'Лента ответов и упоминаний' })
  await link.getByText('скрытые вами авторы в ней есть').waitFor()
  await tap(link)
  await page.waitForURL(`**/users/${olga.username}/received.atom`)
  await page.getByText('в ней есть ответы и тех, кого адресат скрыл').waitFor()
})

test('a name is checked 500 ms after the last key, and once online', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/username' })
  const { form, field, error, status, save } = usernameForm(page)
  await field.waitFor()
  const place = await boxOf(field)
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  const checks = await holdCalls(page, /\/validation$/)

  await write(field, 'маша')
  await expect.poll(() => error.textContent()).toMatch(/не меньше 5 символов$/)
  // The error is about the length, so the rule above states that no longer name would be accepted either.
  const hint = form.getByText(/^Нужны латинские буквы/)
  await hint.waitFor()
  expect(await boxOf(field)).toEqual(place)
  await write(field, 'anna')
  await hint.waitFor({ state: 'detached' })
  await expect.poll(() => error.textContent()).toMatch(/не меньше 5 символов$/)
  await page.clock.runFor(600)
  await write(field, 'free_name')
  await page.clock.runFor(499)
  await write(field, 'free_name_1')
  await page.clock.runFor(499)
  expect(checks.methods).toEqual([])
  await page.clock.runFor(1)
  // The whole form, because a failure has to name its value and its error.
  await expect.poll(() => form.ariaSnapshot()).toContain('status: Проверка имени пользователя...')
  expect(await save.isDisabled()).toBe(true)
  await page.clock.resume()
  checks.letGo()
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
  expect(await save.isEnabled()).toBe(true)
  expect(checks.methods).toEqual(['GET'])

  await goOffline(page)
  await write(field, 'free_name_2')
  await expect.poll(() => error.textContent()).toBe('Нет связи. Проверьте интернет и повторите')
  await goOnline(page)
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
})

test('a taken name moves nothing, a new one shows everywhere', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Меня зовут иначе.')
  const page = await journey.visit({ as: olga })
  const post = postWith(page, 'Меня зовут иначе.')
  await post.getByText(olga.username).waitFor()
  await tap(profileLink(page))
  await tap(page.getByRole('link', { name: /^Имя пользователя/ }))
  const { field, error, status, save } = usernameForm(page)
  expect(await field.inputValue()).toBe(olga.username)
  const place = await boxOf(save)
  await write(field, petr.username.toUpperCase())
  await expect.poll(() => error.textContent()).toBe('Имя пользователя уже занято')
  expect(await save.isDisabled()).toBe(true)
  expect(await boxOf(save)).toEqual(place)

  await write(field, 'wanted_name')
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
  expect(await boxOf(save)).toEqual(place)
  await journey.call('PATCH', '/users/current/profile', {
    token: petr.token,
    body: { username: 'Wanted_Name' },
  })
  await tap(save)
  await expect.poll(() => error.textContent()).toBe('Имя пользователя уже занято')
  expect(await field.inputValue()).toBe('wanted_name')

  await write(field, 'marfa_petrova')
  await expect.poll(() => status.textContent()).toBe('Имя пользователя свободно')
  await tap(save)
  await toast(page, 'Имя сохранено').waitFor()
  await page.getByRole('link', { name: 'Имя пользователя . marfa_petrova' }).waitFor()
  await page.getByRole('link', { name: 'Профиль marfa_petrova' }).waitFor()
  // The form's entry was replaced in the history, so going back does not lead to it.
  await tap(page.getByRole('button', { name: 'Назад' }))
  await page.waitForURL(`${journey.url}/`)
  // Going back loads nothing again.
  await post.getByText('marfa_petrova').waitFor()
})

function usernameForm(page: Page) {
  const form = page.getByRole('main').locator('form')
  return {
    form,
    field: form.getByLabel('Имя пользователя'),
    error: form.getByRole('alert'),
    status: form.getByRole('status'),
    save: form.getByRole('button', { name: 'Сохранить' }),
  }
}
