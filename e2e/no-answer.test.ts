import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type JourneyWithMail, startJourneyWithMail } from './testing/journey-with-mail.ts'
import { countRequests } from './testing/page-actions.ts'
import { profileLink, signInButton } from './testing/sign-in-actions.ts'

const REFRESH = '**/api/v1/sessions/current'
const UNAVAILABLE = 'Сервис временно недоступен. Попробуйте через минуту'

let journey: JourneyWithMail
let olga: TestUser
beforeAll(async () => {
  journey = await startJourneyWithMail()
  olga = await journey.signUp()
  await journey.publish(olga, 'Здесь ли я?')
})
afterAll(() => journey?.close())

test('while it is unknown whether the viewer is signed in, the page shows neither state; it retries by itself and then shows the viewer', async () => {
  let asked = () => 0
  const page = await journey.visit({
    as: olga,
    before: (page) => {
      asked = countRequests(page, 'PATCH', /\/sessions\/current$/)
      return page.route(REFRESH, (route) => route.fulfill({ status: 503 }))
    },
  })
  await expect.poll(asked).toBeGreaterThanOrEqual(4)
  expect(await signInButton(page).count()).toBe(0)
  expect(await profileLink(page).count()).toBe(0)
  await page.unroute(REFRESH)
  await profileLink(page).waitFor()
})

test('when the server does not answer, a page that needs sign-in keeps its address, and «Повторить» opens it', async () => {
  const page = await visitUnanswered('/settings')
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

test('another call that succeeds in the meantime also shows the viewer', async () => {
  const page = await visitUnanswered('/settings')
  await page.getByRole('link', { name: 'Стена' }).click()
  const failed = page.getByRole('main').getByRole('alert')
  await failed.getByRole('heading', { name: 'Не получилось загрузить' }).waitFor()
  await failed.getByText(UNAVAILABLE).waitFor()
  await page.unroute(REFRESH)
  await failed.getByRole('button', { name: 'Повторить' }).click()
  await profileLink(page).waitFor()
})

test('an action that needs sign-in says that the server does not answer, and works once it does', async () => {
  const page = await visitUnanswered('/')
  // Reading needs no answer.
  await page.getByText('Здесь ли я?').waitFor()
  const write = page.getByRole('button', { name: 'Новая запись' })
  await write.click()
  await page.getByRole('status').getByText(UNAVAILABLE).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)

  await page.unroute(REFRESH)
  await write.click()
  await page.getByRole('dialog', { name: 'Новая запись' }).waitFor()
})

/** Opens a page as a signed-in user whose session cannot be checked; it will not retry by itself for an hour. */
function visitUnanswered(path: string): Promise<Page> {
  const refusal = { status: 503, headers: { 'retry-after': '3600' } }
  return journey.visit({
    as: olga,
    path,
    before: (page) => page.route(REFRESH, (route) => route.fulfill(refusal)),
  })
}
