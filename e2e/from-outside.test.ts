import { createServer } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { listen } from '../server/testing/process/free-port.ts'
import { tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { like, postWith } from './testing/page/feed.ts'
import { countRequests } from './testing/page/network.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('a link from another site leads a user in without a reload', async ({ journey, olga }) => {
  // Its host differs, not only its port.
  const elsewhere = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Чужой сайт</title><a href="${journey.url}/">На стену</a>`)
  })
  onTestFinished(() => void elsewhere.close())
  const port = await listen(elsewhere)
  const { id } = await journey.publish(olga, 'Сюда ведёт ссылка')
  await journey.call('POST', `/posts/${id}/likes`, { token: olga.token })
  const page = await journey.visit({ as: olga })
  await profileLink(page).waitFor()

  await page.goto(`http://127.0.0.1:${port}/`)
  const loads = countRequests(page, 'GET', new RegExp(`^${journey.url}/$`))
  const asked = page.waitForRequest(`${journey.url}/`)
  const refresh = page.waitForRequest(/\/sessions\/current$/)
  await tap(page.getByRole('link', { name: 'На стену' }))
  await profileLink(page).waitFor()
  const heart = like(postWith(page, 'Сюда ведёт ссылка'))
  await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('true')
  // The browser withheld the cookie from the page's request, and sent it with the page's own call.
  const document = await asked
  expect(await document.allHeaders()).toMatchObject({ 'sec-fetch-site': 'cross-site' })
  expect(await document.headerValue('cookie')).toBeNull()
  expect(await (await refresh).headerValue('cookie')).toContain(olga.cookie)
  expect(loads()).toBe(1)
})
