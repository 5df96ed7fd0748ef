import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { journey, olga, petr, test } from './testing/journey.ts'
import { countRequests, postWith, setVisibility } from './testing/page-actions.ts'

const LIVE = new RegExp(`${LIVE_PATH}$`)

test('on plain http, where browsers have no locks, each visible tab gets the news', async () => {
  await journey.publish(olga, 'Первая')
  const opened = Promise.withResolvers<unknown>()
  const page = await journey.visit({
    as: petr,
    before: async (it) => {
      void it.waitForResponse(`**${LIVE_PATH}`).then(opened.resolve, opened.reject)
      await takeLocksAway(it)
    },
  })
  await opened.promise
  const streams = countRequests(page, 'GET', LIVE)
  await journey.publish(olga, 'Вторая')
  await page.getByRole('button', { name: /новые записи|новым записям/ }).waitFor()
  await postWith(page, 'Первая').waitFor()

  // A browser has six connections to a host: a tab that nobody sees needs none of them.
  const ended = page.waitForEvent('requestfailed', (request) => LIVE.test(request.url()))
  await setVisibility(page, 'hidden')
  await ended
  await setVisibility(page, 'visible')
  await expect.poll(streams).toBe(1)
})

async function takeLocksAway(page: Page): Promise<void> {
  await page.addInitScript(() =>
    Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true }),
  )
}
