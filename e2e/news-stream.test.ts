import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { test } from './testing/journey.ts'
import { countRequests, holdCalls, postWith, setVisibility } from './testing/page-actions.ts'

test('a tab that is opened while another one has the news shows posts that came while it was loading', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Первая')
  const first = await journey.visitWithNews()
  const second = await first.context().newPage()
  const scripts = await holdCalls(second, '**/*.js')
  await second.goto(journey.url, { waitUntil: 'commit' })
  await postWith(second, 'Первая').waitFor()
  await journey.publish(olga, 'Пока открывалась')
  const newPosts = (page: Page) => page.getByRole('button', { name: 'Показать новые записи' })
  await newPosts(first).waitFor()
  scripts.letGo()
  await newPosts(second).waitFor()
})

test('a tab hidden for ten minutes closes its stream, and shows new replies on return', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(olga, 'Вернусь позже')
  const page = await journey.visitWithNews({ as: olga, before: (opened) => opened.clock.install() })
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  const letGo = page.waitForEvent('requestfailed', (request) => request.url().endsWith(LIVE_PATH))
  await setVisibility(page, 'hidden')
  await page.clock.fastForward('10:00')
  await letGo
  await journey.reply(petr, post.id, 'Пока тебя не было')
  const streams: string[] = []
  page.on('request', (request) => streams.push(new URL(request.url()).pathname))
  await setVisibility(page, 'visible')
  await page.getByRole('link', { name: 'Ответы мне, новых: 1' }).waitFor()
  await expect.poll(() => streams).toContain(LIVE_PATH)
})

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
