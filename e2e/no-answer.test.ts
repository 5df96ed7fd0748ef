import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { type JourneyWithMail, startJourneyWithMail } from './testing/journey.ts'
import { countRequests } from './testing/page-actions.ts'
import { profileLink, signInButton } from './testing/sign-in-actions.ts'

const RENEWAL = '**/api/v1/sessions/current'
const UNAVAILABLE = 'Сервис временно недоступен. Попробуйте через минуту'

let journey: JourneyWithMail
let olga: TestUser
beforeAll(async () => {
  journey = await startJourneyWithMail()
  olga = await journey.signUp()
  await journey.publish(olga, 'Здесь ли я?')
})
afterAll(() => journey?.close())

test('while the server does not say who came, nobody is shown as signed out; asked again by itself, it says', async () => {
  let asked = () => 0
  const page = await journey.visit({
    as: olga,
    before: (page) => {
      asked = countRequests(page, 'PATCH', /\/sessions\/current$/)
      return page.route(RENEWAL, (route) => route.fulfill({ status: 503 }))
    },
  })
  await expect.poll(asked).toBeGreaterThanOrEqual(4)
  expect(await signInButton(page).count()).toBe(0)
  expect(await profileLink(page).count()).toBe(0)
  await page.unroute(RENEWAL)
  await profileLink(page).waitFor()
})

test('a secured page without an answer stays where it is, and «Повторить» opens it', async () => {
  const page = await visitUnanswered('/settings')
  const failed = page.getByRole('alert')
  await failed.getByText(UNAVAILABLE).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings')
  expect(await page.getByRole('dialog').count()).toBe(0)

  await page.unroute(RENEWAL)
  await failed.getByRole('button', { name: 'Повторить' }).click()
  await profileLink(page).waitFor()
  await page.getByText(olga.email).waitFor()
  expect(new URL(page.url()).pathname).toBe('/settings')
})

test('a call that is answered meanwhile tells who came', async () => {
  const page = await visitUnanswered('/')
  const failed = page.getByRole('main').getByRole('alert')
  await failed.getByText(UNAVAILABLE).waitFor()
  await page.unroute(RENEWAL)
  await failed.getByRole('button', { name: 'Повторить' }).click()
  await profileLink(page).waitFor()
})

test('what needs somebody signed in says that there is no answer, and works once there is', async () => {
  const page = await visitUnanswered('/')
  await page.getByRole('main').getByRole('alert').waitFor()
  const write = page.getByRole('button', { name: 'Новая запись' })
  await write.click()
  await page.getByRole('status').getByText(UNAVAILABLE).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)

  await page.unroute(RENEWAL)
  await write.click()
  await page.getByRole('dialog', { name: 'Новая запись' }).waitFor()
})

/** A page of somebody signed in whose session cannot be looked up; for an hour it will not ask again by itself. */
function visitUnanswered(path: string): Promise<Page> {
  const refusal = { status: 503, headers: { 'retry-after': '3600' } }
  return journey.visit({
    as: olga,
    path,
    before: (page) => page.route(RENEWAL, (route) => route.fulfill(refusal)),
  })
}
