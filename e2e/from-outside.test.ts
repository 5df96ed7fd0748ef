import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { countRequests, postWith, refuseNews } from './testing/page-actions.ts'
import { endSessions, profileLink, signInButton } from './testing/sign-in-actions.ts'

const REFRESH = /\/sessions\/current$/

/** Another site with a link to the wall: its host differs, not only its port. */
let elsewhere: Server
test.beforeEach(async ({ journey }) => {
  elsewhere = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Чужой сайт</title><a href="${journey.url}/">На стену</a>`)
  }).listen(0, '127.0.0.1')
  return () => elsewhere.close()
})

test('a signed-in person who follows a link from another site is signed in, without a reload', async ({
  journey,
}) => {
  const user = await journey.signUp()
  const { id } = await journey.publish(user, 'Сюда ведёт ссылка')
  await journey.call('POST', `/posts/${id}/likes`, { token: user.token })
  const page = await journey.visit({ as: user })
  await profileLink(page).waitFor()

  const refresh = page.waitForRequest(REFRESH)
  const { document, loads } = await followLink(journey, page)
  await profileLink(page).waitFor()
  const like = postWith(page, 'Сюда ведёт ссылка').getByRole('button', { name: 'Нравится' })
  await expect.poll(() => like.getAttribute('aria-pressed')).toBe('true')
  // The browser withheld the cookie from the page's request, and sent it with the page's own call.
  expect(await document.allHeaders()).toMatchObject({ 'sec-fetch-site': 'cross-site' })
  expect(await document.headerValue('cookie')).toBeNull()
  expect(await (await refresh).headerValue('cookie')).toContain(user.cookie)
  expect(loads()).toBe(1)
})

test('a session that has ended is requested only once', async ({ journey }) => {
  const user = await journey.signUp()
  let listRead: Promise<unknown> | undefined
  const page = await journey.visit({
    as: user,
    before: async (it) => {
      await refuseNews(it)
      listRead = it.waitForResponse(/\/api\/v1\/posts\?/)
    },
  })
  await Promise.all([listRead, profileLink(page).waitFor()])
  // A call in flight would request the session too.
  await page.waitForLoadState('networkidle')
  await endSessions(journey, user)
  const refreshes = countRequests(page, 'PATCH', REFRESH)
  for (let visit = 0; visit < 2; visit++) {
    await followLink(journey, page)
    await signInButton(page).waitFor()
    await page.waitForLoadState('networkidle')
  }
  expect(refreshes()).toBe(1)
})

/**
 * Goes to the other site and from there to the wall. Returns the request for the wall's page, and
 * how often it was loaded.
 */
async function followLink(
  journey: Journey,
  page: Page,
): Promise<{ document: Request; loads: () => number }> {
  const { port } = elsewhere.address() as AddressInfo
  await page.goto(`http://127.0.0.1:${port}/`)
  const loads = countRequests(page, 'GET', new RegExp(`^${journey.url}/$`))
  const document = page.waitForRequest(`${journey.url}/`)
  await page.getByRole('link', { name: 'На стену' }).click()
  return { document: await document, loads }
}
