import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/http/client.ts'
import { tap, typeOn, write } from './testing/hands.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { startPost, textField } from './testing/page/compose.ts'
import { closeByKey, toast } from './testing/page/overlays.ts'
import { openTab } from './testing/page/tab.ts'
import { endSessions, profileLink, signInButton, signInThrough } from './testing/sign-in-actions.ts'

test('this browser comes first, and each other can be closed', async ({ journey, olga }) => {
  const page = await journey.visit()
  await tap(signInButton(page))
  await signInThrough(journey, page, olga.email)
  await tap(profileLink(page))
  await tap(page.getByRole('link', { name: 'Устройства' }))

  const { current, others } = devices(page)
  await current.getByText(/^(Headless)?Chrom\w* \d+\. $/).waitFor()
  expect(await current.getByRole('button').count()).toBe(0)
  await others.getByText(/(сегодня|вчера) в \d{2}:\d{2}$/).waitFor()
  expect(await others.getByRole('listitem').count()).toBe(1)

  const other = others.getByRole('listitem').getByRole('button')
  const dialog = page.getByRole('dialog', { name: 'Другая сессия' })
  await tap(other)
  await dialog.getByText('Linux').waitFor()
  await dialog.getByText('Firefox 140').waitFor()

  await page.route('**/api/v1/sessions/*', (route) => route.abort(), { times: 1 })
  const close = dialog.getByRole('button', { name: 'Завершить сессию' })
  await tap(close)
  const refusal = 'Сервер не отвечает. Попробуйте чуть позже'
  await expect.poll(() => dialog.getByRole('alert').textContent()).toBe(refusal)
  expect(await isOpen(journey, olga)).toBe(true)
  await tap(close)
  await toast(page, 'Сессия завершена').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await others.getByText('Других сессий нет').waitFor()
  expect(await isOpen(journey, olga)).toBe(false)
})

test('ten sessions come with a warning; all others can be closed', async ({ journey, olga }) => {
  const other = await journey.signIn(olga.email)
  const page = await journey.visit({ as: olga, path: '/settings/devices' })
  const warning = page.getByText(
    'Сессий может быть не больше 10: следующий вход завершит самую старую',
  )
  const list = devices(page).others
  await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
  expect(await warning.count()).toBe(0)
  for (let session = 3; session <= 10; session++) await journey.signIn(olga.email)
  await page.reload()
  await warning.waitFor()

  const close = list.getByRole('button', { name: 'Завершить другие сессии' })
  await tap(close)
  const dialog = page.getByRole('dialog', { name: 'Завершить другие сессии?' })
  await tap(dialog.getByRole('button', { name: 'Завершить', exact: true }))
  await toast(page, 'Сессии завершены').waitFor()
  await list.getByText('Других сессий нет').waitFor()
  expect(await close.count()).toBe(0)
  expect([await isOpen(journey, olga), await isOpen(journey, other)]).toEqual([true, false])
})

test('a session closed elsewhere leaves only the open text, on the screen alone', async ({
  journey,
  olga,
}) => {
  const page = await visitAndWrite(journey, olga)
  const other = await openTab(page, '/liked')
  await other.evaluate(() => sessionStorage.setItem('intent', '{"name":"new-post"}'))
  await page.bringToFront()
  const dialog = await startPost(page)
  await typeAtEnd(textField(dialog), ' и не отправлено')
  await closeFromElsewhere(journey, olga)
  await page.keyboard.press('Control+Enter')

  await dialog.getByRole('alert').getByText(CLOSED).waitFor()
  await toast(other, CLOSED).waitFor({ state: 'detached' })
  await signInButton(other).waitFor()
  await other.waitForURL(`${journey.url}/`)
  expect(await textField(dialog).inputValue()).toBe('Не для чужих глаз и не отправлено')
  for (const tab of [page, other]) await expect.poll(() => personalKeys(tab, olga)).toEqual([])
  await tap(dialog.getByRole('button', { name: 'Скопировать' }))
  await dialog.getByText('Текст скопирован').waitFor()
  await closeByKey(dialog)
  await page.reload()
  await tap(signInButton(page))
  await signInThrough(journey, page, olga.email)
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('')
})

test('a session closed while the browser was closed leaves nothing', async ({ journey, olga }) => {
  const page = await visitAndWrite(journey, olga)
  await page.goto('about:blank')
  await closeFromElsewhere(journey, olga)
  await page.goto(`${journey.url}/settings`)
  await page.waitForURL(`${journey.url}/`)
  await toast(page, CLOSED).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await personalKeys(page, olga)).toEqual([])
  await page.goto(`${journey.url}/settings`)
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  expect(await page.getByText(CLOSED).count()).toBe(0)
})

test('an expired session keeps drafts and hidden words', async ({ journey, olga }) => {
  const page = await visitAndWrite(journey, olga)
  await endSessions(journey, olga)
  await page.reload()
  await signInButton(page).waitFor()
  expect(await personalKeys(page, olga)).toEqual(['hidden', `text ${olga.id} new`])
})

const CLOSED = 'Сессия завершена с другого устройства'

/** Opens a page as a user, who hides a word and leaves a draft. */
async function visitAndWrite(journey: Journey, user: TestUser): Promise<Page> {
  const page = await journey.visit({ as: user, path: '/settings/hidden' })
  await write(page.getByRole('textbox', { name: 'Слово' }), 'выборы')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Убрать слово «выборы»' }).waitFor()
  await tap(page.getByRole('link', { name: 'Стена' }))
  await page.getByRole('heading', { level: 1, name: 'Стена' }).waitFor()
  const dialog = await startPost(page)
  await write(textField(dialog), 'Не для чужих глаз')
  await closeByKey(dialog)
  return page
}

async function typeAtEnd(field: Locator, text: string): Promise<void> {
  await field.press('End')
  await typeOn(field, text)
}

/** Returns the keys that the browser stores about a person, without the id of a text. */
async function personalKeys(page: Page, { id }: TestUser): Promise<string[]> {
  const keys = await page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }))
  const personal = keys.filter((key) => key.includes(` ${id}`) || /^(hidden|intent)$/.test(key))
  return personal.map((key) => key.split(' ').slice(0, 3).join(' ')).sort()
}

function devices(page: Page) {
  return {
    current: page.getByRole('region', { name: 'Текущая сессия' }),
    others: page.getByRole('region', { name: 'Другие сессии' }),
  }
}

async function closeFromElsewhere(journey: Journey, { email }: TestUser): Promise<void> {
  const { token } = await journey.signIn(email)
  await journey.call('DELETE', '/sessions', { token })
}

/** Whether a user's session is still accepted. */
async function isOpen(journey: Journey, { token }: TestUser): Promise<boolean> {
  return (await journey.call('GET', '/users/current', { token })).status === 200
}
