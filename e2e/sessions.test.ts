import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { openTab, startPost, textField, toast } from './testing/page-actions.ts'
import { askForCode, enterCode, profileLink, signInButton } from './testing/sign-in-actions.ts'

test('devices: this browser comes first, by its own name, and cannot be closed; the others open in a dialog', async ({
  journey,
}) => {
  const elsewhere = await journey.signUp()
  const page = await journey.visit()
  await askForCode(page, elsewhere.email)
  await enterCode(page, await journey.nextCode(elsewhere.email))
  await profileLink(page).click()
  await page.getByRole('link', { name: 'Устройства' }).click()

  const { current, others } = devices(page)
  await current.getByText(/^(Headless)?Chrom\w* \d+$/).waitFor()
  expect(await current.getByRole('button').count()).toBe(0)
  expect(await current.getByText('Firefox').count()).toBe(0)
  await others.getByText('Firefox 140').waitFor()
  await others.getByText(/(сегодня|вчера) в \d{2}:\d{2}$/).waitFor()
  expect(await others.getByRole('listitem').count()).toBe(1)

  await others.getByRole('listitem').getByRole('button').click()
  const dialog = page.getByRole('dialog', { name: 'Другая сессия' })
  await dialog.getByText('Linux').waitFor()
  await dialog.getByText('Firefox 140').waitFor()
  await dialog.getByRole('button', { name: 'Отмена' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await isOpen(journey, elsewhere)).toBe(true)
})

test('with ten sessions the page states that the next sign-in closes the oldest; closing all others leaves only this one', async ({
  journey,
}) => {
  const here = await journey.signUp()
  const others = [await journey.signIn(here.email), await journey.signIn(here.email)]
  const page = await journey.visit({ as: here, path: '/settings/devices' })
  const warning = page.getByText(
    'Сессий может быть не больше 10: следующий вход завершит самую старую',
  )
  const list = devices(page).others
  await expect.poll(() => list.getByRole('listitem').count()).toBe(2)
  expect(await warning.count()).toBe(0)
  await journey.rows(
    `INSERT INTO sessions (id, user_id, secret_hash, seen, client_hash, browser_hash, user_agent, user_agent_version, os)
     SELECT gen_random_uuid(), user_id, secret_hash, seen, client_hash, browser_hash, user_agent, user_agent_version, os
     FROM (SELECT * FROM sessions WHERE user_id = $1 LIMIT 1) one, generate_series(1, 7)`,
    [here.id],
  )
  await page.reload()
  await warning.waitFor()

  const close = list.getByRole('button', { name: 'Завершить другие сессии' })
  const dialog = page.getByRole('dialog', { name: 'Завершить другие сессии?' })
  await close.click()
  await dialog.getByRole('button', { name: 'Завершить', exact: true }).click()
  await toast(page, 'Сессии завершены').waitFor()
  await list.getByText('Других сессий нет').waitFor()
  expect(await close.count()).toBe(0)
  expect(await Promise.all([here, ...others].map((it) => isOpen(journey, it)))).toEqual([
    true,
    false,
    false,
  ])
})

test('a session that could not be closed: its dialog stays, announces the error, and can try again', async ({
  journey,
}) => {
  const here = await journey.signUp()
  const there = await journey.signIn(here.email)
  const page = await journey.visit({ as: here, path: '/settings/devices' })
  await devices(page).others.getByRole('listitem').getByRole('button').click()
  const dialog = page.getByRole('dialog', { name: 'Другая сессия' })
  await page.route('**/api/v1/sessions/*', (route) => route.abort(), { times: 1 })
  const close = dialog.getByRole('button', { name: 'Завершить сессию' })
  await close.click()
  const refusal = 'Сервер не отвечает. Попробуйте чуть позже'
  await expect.poll(() => dialog.getByRole('alert').textContent()).toBe(refusal)
  expect(await isOpen(journey, there)).toBe(true)
  await close.click()
  await toast(page, 'Сессия завершена').waitFor()
  await dialog.waitFor({ state: 'detached' })
  await devices(page).others.getByText('Других сессий нет').waitFor()
  expect(await isOpen(journey, there)).toBe(false)
})

test('a session closed on another device leaves no draft and no hidden word, in any tab and on the screen', async ({
  journey,
}) => {
  const { here, page } = await visitAndWrite(journey)
  const other = await openTab(page, '/liked')
  await other.evaluate(() => sessionStorage.setItem('intent', '{"name":"new-post"}'))
  const dialog = await startPost(page)
  await textField(dialog).fill('Ещё не отправлено')
  await closeFromElsewhere(journey, here)
  await page.keyboard.press('Control+Enter')

  await toast(page, CLOSED).waitFor()
  await signInButton(page).waitFor()
  await signInButton(other).waitFor()
  await other.waitForURL(`${journey.url}/`)
  await dialog.waitFor({ state: 'detached' })
  for (const tab of [page, other]) await expect.poll(() => personalKeys(tab, here)).toEqual([])
  await page.reload()
  await signInButton(page).click()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  expect(await page.getByText(CLOSED).count()).toBe(0)
})

test('a browser that is opened after its session was closed deletes the same, and shows why once', async ({
  journey,
}) => {
  const { here, page } = await visitAndWrite(journey)
  await page.goto('about:blank')
  await closeFromElsewhere(journey, here)
  await page.goto(`${journey.url}/settings`)
  await page.waitForURL(`${journey.url}/`)
  await toast(page, CLOSED).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await personalKeys(page, here)).toEqual([])
  await page.goto(`${journey.url}/settings`)
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  expect(await page.getByText(CLOSED).count()).toBe(0)
})

test('an expired session keeps the drafts and hidden words of its user', async ({ journey }) => {
  const { here, page } = await visitAndWrite(journey)
  const before = await personalKeys(page, here)
  expect(before).toEqual([`draft ${here.id} new`, 'hidden'])
  await journey.rows(
    "UPDATE sessions SET used_at = now() - interval '31 days' WHERE user_id = $1",
    [here.id],
  )
  await page.reload()
  await signInButton(page).waitFor()
  expect(await personalKeys(page, here)).toEqual(before)
})

const CLOSED = 'Сессия завершена с другого устройства'

/** Opens a page as a new user, who hides a word and leaves a draft. */
async function visitAndWrite(journey: Journey) {
  const here = await journey.signUp()
  const page = await journey.visit({ as: here, path: '/settings/hidden' })
  await page.getByRole('textbox', { name: 'Слово' }).fill('выборы')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Убрать слово «выборы»' }).waitFor()
  await page.getByRole('link', { name: 'Стена' }).click()
  await page.getByRole('heading', { name: 'Стена' }).waitFor()
  const dialog = await startPost(page)
  await textField(dialog).fill('Не для чужих глаз')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  return { here, page }
}

/** Returns the keys that the browser stores about a person, without the tab's id of a draft. */
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
