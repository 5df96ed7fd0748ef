import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { DESKTOP, journey, testWith } from './testing/journey.ts'
import { countRequests } from './testing/page-actions.ts'
import { askForCode, enterCode, profileLink, signInButton } from './testing/sign-in-actions.ts'

// Every call finds its token about to expire, and refreshes it. No token expires on its way,
// however busy the machine is.
const test = testWith({ ACCESS_TOKEN_SECONDS: '19' }).extend('viewport', DESKTOP)

test('a token that expires during a session is refreshed unnoticed', async () => {
  const page = await journey.visit({ as: await journey.signUp() })
  await profileLink(page).waitFor()
  const refreshes = countRequests(page, 'PATCH', /\/sessions\/current$/)
  await publish(page, 'Первая после часа тишины.')
  await page.getByRole('link', { name: /^Профиль / }).click()
  await page.getByRole('link', { name: 'Устройства' }).click()
  await page.getByRole('heading', { name: 'Текущая сессия' }).waitFor()
  expect(refreshes()).toBeGreaterThanOrEqual(2)
})

test('a token that the server refuses is refreshed once, and the call is sent again', async () => {
  const page = await journey.visit({ as: await journey.signUp() })
  await profileLink(page).waitFor()
  const refreshes = countRequests(page, 'PATCH', /\/sessions\/current$/)
  const sent: (string | undefined)[] = []
  await page.route('**/api/v1/posts', (route) => {
    const headers = route.request().headers()
    if (route.request().method() !== 'POST') return route.continue()
    sent.push(headers.authorization)
    const stale = { ...headers, authorization: 'Bearer of yesterday' }
    return route.continue(sent.length === 1 ? { headers: stale } : {})
  })
  await publish(page, 'Со второго раза.')
  expect(sent).toHaveLength(2)
  expect(refreshes()).toBe(2)
  expect(await journey.rows("SELECT FROM posts WHERE text = 'Со второго раза.'")).toHaveLength(1)
})

test('two tabs refresh at once while the session’s secret is rotated, and both go on', async () => {
  const user = await journey.signUp()
  const first = await journey.visit({ as: user })
  const second = await first.context().newPage()
  await second.goto(journey.url)
  await Promise.all([profileLink(first).waitFor(), profileLink(second).waitFor()])
  await journey.rows("UPDATE sessions SET rotated_at = rotated_at - interval '11 minutes'")
  await Promise.all([publish(first, 'Слева.'), publish(second, 'Справа.')])
  await Promise.all([first.reload(), second.reload()])
  await Promise.all([profileLink(first).waitFor(), profileLink(second).waitFor()])
  const [{ posts }] = await journey.rows(
    'SELECT count(*)::int AS posts FROM posts WHERE owner_id = $1',
    [user.id],
  )
  expect(posts).toBe(2)
})

test('signing in also signs the other tab in', async () => {
  const { email, username } = await journey.signUp()
  const first = await journey.visit()
  const second = await first.context().newPage()
  await second.goto(journey.url)
  await signInButton(second).waitFor()
  await askForCode(first, email)
  await enterCode(first, await journey.nextCode(email))
  await first.getByRole('link', { name: `Профиль ${username}` }).waitFor()
  await second.getByRole('link', { name: `Профиль ${username}` }).waitFor()
})

async function publish(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: 'Новая запись' }).click()
  const dialog = page.getByRole('dialog', { name: 'Новая запись' })
  await dialog.getByLabel('Текст записи').fill(text)
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('article').filter({ hasText: text }).waitFor()
}
