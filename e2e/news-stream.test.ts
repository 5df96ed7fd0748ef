import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { test } from './testing/journey.ts'
import { countRequests, postWith, setVisibility } from './testing/page-actions.ts'

const LIVE = new RegExp(`${LIVE_PATH}$`)

test('on plain http, where browsers have no locks, each visible tab gets the news', async ({
  journey,
  olga,
  petr,
}) => {
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

  // A browser opens only six connections to a host, so a hidden tab closes its stream.
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

test('a stream that has gone silent is closed, and the page reads once and opens another', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Первая')
  const page = await journey.visit({
    before: async (it) => {
      await it.clock.install()
      await it.addInitScript(replaceStreams)
    },
  })
  const opened = () => page.evaluate(() => Reflect.get(window, 'streams').length)
  await expect.poll(opened).toBe(1)
  const asked = countRequests(page, 'GET', /\/api\/v1\/posts/)
  await page.clock.fastForward(40_000)
  await page.evaluate(() => Reflect.get(window, 'streams')[0].dispatchEvent(new Event('beat')))
  await page.clock.fastForward(40_000)
  expect(await opened()).toBe(1)
  await page.clock.fastForward(6000)
  await expect.poll(opened).toBe(2)
  expect(await page.evaluate(() => Reflect.get(window, 'streams')[0].isClosed)).toBe(true)
  await expect.poll(asked).toBe(1)
})

/** Replaces the page's streams with silent ones. */
function replaceStreams(): void {
  const streams: EventTarget[] = []
  class SilentStream extends EventTarget {
    static readonly CLOSED = 2
    isClosed = false
    readyState = 1
    onopen: (() => void) | undefined
    constructor() {
      super()
      streams.push(this)
      queueMicrotask(() => {
        this.onopen?.()
        this.dispatchEvent(new Event('open'))
      })
    }
    close(): void {
      this.isClosed = true
    }
  }
  Object.assign(window, { streams, EventSource: SilentStream })
}
