import type { Route } from 'playwright-core'
import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { tap } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { newPosts, postWith } from './testing/page/feed.ts'
import { tapInPlace } from './testing/page/layout.ts'
import { countRequests, holdCalls } from './testing/page/network.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test('posts that come while a tab is loading or reads others show', async ({ journey, olga }) => {
  await journey.publish(olga, 'Первая')
  const first = await journey.visitWithNews()
  const second = await first.context().newPage()
  const scripts = await holdCalls(second, '**/*.js')
  await second.goto(journey.url, { waitUntil: 'commit' })
  await postWith(second, 'Первая').waitFor()
  await journey.publish(olga, 'Пока открывалась')
  await newPosts(first).waitFor()
  scripts.letGo()
  await newPosts(second).waitFor()

  // A post that comes while newer posts are read waits for another tap.
  await tapInPlace(newPosts(second))
  await newPosts(second).waitFor({ state: 'detached' })
  await first.route('**/posts?*cursor=oldest-*', async (route) => {
    const response = await route.fetch()
    await journey.publish(olga, 'Пока читалась')
    await newPosts(second).waitFor()
    await route.fulfill({ response })
  })
  await tapInPlace(newPosts(first))
  await postWith(first, 'Пока открывалась').waitFor()
  await expect.poll(() => newPosts(first).getAttribute('aria-disabled')).toBe(null)
})

test('news from before a list or the bell is there shows', async ({ journey, olga, petr }) => {
  const vera = await journey.signUp()
  const { id } = await journey.publish(olga, 'Спрашиваю')
  const script = Promise.withResolvers<void>()
  const page = await journey.visitWithNews({
    as: olga,
    before: (it) =>
      it.route(/assets\/signed-in-/, (route) => script.promise.then(() => route.continue())),
  })
  const bell = (unread: number) => page.getByRole('link', { name: `Ответы мне, новых: ${unread}` })
  await journey.reply(petr, id, 'Пока нет колокола')
  await journey.publish(petr, 'Позже ответа')
  await newPosts(page).waitFor()
  script.resolve()
  await bell(1).waitFor()

  await tap(profileLink(page))
  const beforeAnswer = async (route: Route) => {
    const response = await route.fetch()
    await journey.publish(vera, 'Пока нет списка')
    await journey.reply(vera, id, 'Позже записи')
    await bell(2).waitFor()
    await route.fulfill({ response })
  }
  await page.route('**/api/v1/posts?*', beforeAnswer, { times: 1 })
  await tap(page.getByRole('link', { name: 'Стена' }))
  await newPosts(page).waitFor()
})

test('a silent stream is replaced after one read', async ({ journey, olga }) => {
  await journey.publish(olga, 'Первая')
  const page = await journey.visit({
    before: async (it) => {
      await it.clock.install()
      await it.addInitScript(recordStreams)
      // A stream that opens would not be silent.
      await it.route(`**${LIVE_PATH}`, () => {})
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
  const isClosed = () => Reflect.get(window, 'streams')[0].readyState === EventSource.CLOSED
  expect(await page.evaluate(isClosed)).toBe(true)
  await expect.poll(asked).toBe(1)
})

function recordStreams(): void {
  const streams: EventSource[] = []
  class RecordedStream extends EventSource {
    constructor(url: string) {
      super(url)
      streams.push(this)
    }
  }
  Object.assign(window, { streams, EventSource: RecordedStream })
}
