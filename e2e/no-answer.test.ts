import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { countRequests, holdCalls, postWith, switchView } from './testing/page-actions.ts'
import { profileLink, signInButton } from './testing/sign-in-actions.ts'

const REFRESH = '**/api/v1/sessions/current'
const UNAVAILABLE = 'Сервис временно недоступен. Попробуйте через минуту'

test.beforeEach(async ({ journey, olga }) => {
  for (const text of ['Туда и обратно', 'И снова туда']) await journey.publish(olga, text)
})

test('while the session is unknown, the page shows neither state, retries by itself and then shows the viewer', async ({
  journey,
  olga,
}) => {
  let asked = () => 0
  const page = await journey.visit({
    as: olga,
    before: (page) => {
      asked = countRequests(page, 'PATCH', /\/sessions\/current$/)
      return page.route(REFRESH, (route) => route.fulfill({ status: 503 }))
    },
  })
  await expect.poll(asked).toBeGreaterThanOrEqual(3)
  expect(await signInButton(page).count()).toBe(0)
  expect(await profileLink(page).count()).toBe(0)
  await page.unroute(REFRESH)
  await profileLink(page).waitFor()
})

test('when the server does not answer, a page that needs sign-in keeps its address, and «Повторить» opens it', async ({
  journey,
  olga,
}) => {
  const page = await visitUnanswered(journey, olga, '/settings')
  const failed = page.getByRole('alert')
  await failed.getByText(UNAVAILABLE).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings')
  expect(await page.getByRole('dialog').count()).toBe(0)

  await page.unroute(REFRESH)
  await failed.getByRole('button', { name: 'Повторить' }).click()
  await profileLink(page).waitFor()
  await page.getByText(olga.email).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings')
})

test('without an answer the switcher still leads to the wall, where another call that succeeds also shows the viewer', async ({
  journey,
  olga,
}) => {
  const page = await visitUnanswered(journey, olga, '/liked')
  await page.getByRole('alert').getByText(UNAVAILABLE).waitFor()
  await switchView(page, 'Новые')
  await page.waitForURL(`${journey.url}/`)
  const failed = page.getByRole('main').getByRole('alert')
  await failed.getByRole('heading', { name: 'Не получилось загрузить' }).waitFor()
  await page.unroute(REFRESH)
  await failed.getByRole('button', { name: 'Повторить' }).click()
  await profileLink(page).waitFor()
})

test('an action that needs sign-in shows that the server does not answer, and works once it does', async ({
  journey,
  olga,
}) => {
  const page = await visitUnanswered(journey, olga, '/')
  // Reading does not depend on the session.
  await postWith(page, 'И снова туда').waitFor()
  const write = page.getByRole('button', { name: 'Новая запись' })
  await write.click()
  await page.getByRole('status').getByText(UNAVAILABLE).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)

  await page.unroute(REFRESH)
  await write.click()
  await page.getByRole('dialog', { name: 'Новая запись' }).waitFor()
})

test('while the viewer is unknown, a heart shows that it waits, and the last tap counts', async ({
  journey,
  petr,
}) => {
  const { page, letGo } = await visitUnknown(journey, petr)
  const heart = (text: string) => postWith(page, text).getByRole('button', { name: 'Нравится' })
  const taps = { 'Туда и обратно': 2, 'И снова туда': 3 }
  for (const [text, count] of Object.entries(taps)) {
    for (let tap = 0; tap < count; tap++) {
      await heart(text).click()
      expect(await heart(text).getAttribute('aria-busy')).toBe(tap % 2 === 0 ? 'true' : null)
    }
  }
  const asked = countRequests(page, 'POST', /\/likes$/)
  letGo()
  await expect.poll(() => heart('И снова туда').getAttribute('aria-busy')).toBe(null)
  await expect.poll(() => heart('И снова туда').getAttribute('aria-pressed')).toBe('true')
  expect(await heart('Туда и обратно').getAttribute('aria-pressed')).toBe('false')
  const liked = 'SELECT text FROM posts JOIN likes ON post_id = posts.id'
  await expect.poll(() => journey.rows(liked)).toEqual([{ text: 'И снова туда' }])
  expect(asked()).toBe(1)
})

test('while the viewer is unknown, the page shows that a dialog opens, and the last tap decides which', async ({
  journey,
  petr,
}) => {
  const { page, letGo } = await visitUnknown(journey, petr)
  await page.getByRole('button', { name: 'Новая запись' }).click()
  await page.getByRole('status', { name: 'Открываем окно' }).waitFor()
  await postWith(page, 'И снова туда').getByRole('button', { name: 'Ответить' }).click()
  letGo()
  await page.getByRole('dialog', { name: 'Ответ' }).waitFor()
  await page.getByRole('status', { name: 'Открываем окно' }).waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/')
})

/** Opens the wall as a user whose account and likes the server returns only after `letGo()`. */
async function visitUnknown(journey: Journey, petr: TestUser) {
  const held: Awaited<ReturnType<typeof holdCalls>>[] = []
  const page = await journey.visit({
    as: petr,
    before: async (it) => {
      for (const path of ['/users/current', '/posts?*']) {
        held.push(await holdCalls(it, `**/api/v1${path}`))
      }
    },
  })
  await Promise.all(held.map(({ asked }) => asked))
  await postWith(page, 'И снова туда').waitFor()
  return { page, letGo: () => held.forEach(({ letGo }) => void letGo()) }
}

/** Opens a page as a user whose session cannot be checked; it retries only after an hour. */
function visitUnanswered(journey: Journey, olga: TestUser, path: string): Promise<Page> {
  const refusal = { status: 503, headers: { 'retry-after': '3600' } }
  return journey.visit({
    as: olga,
    path,
    before: (page) => page.route(REFRESH, (route) => route.fulfill(refusal)),
  })
}
