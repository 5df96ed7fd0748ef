import { expect } from 'vitest'
import { LIVE_PATH } from '../contract/constants.ts'
import { expectNoBarrier } from './testing/axe.ts'
import { tap } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { newPosts, postTexts, postWith } from './testing/page/feed.ts'
import { bringTo, isAt, readOn, recordMoves, tapInPlace } from './testing/page/layout.ts'
import { countRequests, holdCalls, REFUSED } from './testing/page/network.ts'
import { toast } from './testing/page/overlays.ts'
import { setVisibility } from './testing/page/tab.ts'

/**
 * Ten posts with this text are taller than a phone's screen, so that the next page loads only after
 * scrolling.
 */
const TWO_LINES = 'Запись, которой на телефоне хватает на две строки, а то и на три:'
const NEXT_POSTS = '**/posts?*cursor=*'

test('scrolling loads ten posts at a time, or offers a retry', async ({ journey, olga }) => {
  await journey.fillWall(olga, 25, TWO_LINES)
  const page = await journey.visit()
  const feed = page.getByRole('feed', { name: 'Стена' })
  const count = () => feed.getByRole('article').count()
  await expect.poll(count).toBe(10)
  expect(await feed.getAttribute('aria-busy')).toBe('false')

  const second = await holdCalls(page, NEXT_POSTS)
  await page.keyboard.press('End')
  await second.asked
  await expect.poll(() => feed.getAttribute('aria-busy')).toBe('true')
  await page.locator('main [aria-hidden=true] > div').first().waitFor()
  await page.evaluate(stayBusyAtAnswer)
  second.letGo()
  await expect.poll(count).toBe(20)
  expect(second.methods).toEqual(['GET'])

  await page.unroute(NEXT_POSTS)
  await page.route(NEXT_POSTS, (route) => route.fulfill(REFUSED))
  await page.keyboard.press('End')
  const repeat = page.getByRole('button', { name: 'Повторить' })
  await repeat.waitFor()
  expect(await count()).toBe(20)
  await page.unroute(NEXT_POSTS)
  await tap(repeat)
  await expect.poll(() => postTexts(page)).toEqual(downFrom(25, TWO_LINES))
  expect(await feed.getAttribute('aria-busy')).toBe('false')
  expect(await postWith(page, /: 1$/).getAttribute('aria-setsize')).toBe('25')
})

test('new posts wait behind a button, which then leads to the top', async ({ journey, olga }) => {
  await journey.fillWall(olga, 25)
  // A stream begins with the newest post that was published.
  await journey.publish(olga, 'Прежняя')
  const page = await journey.visitWithNews()
  const read = postWith(page, /^.*Запись 19$/)
  await bringTo(read, 150)
  await expect.poll(() => page.getByRole('article').count()).toBe(20)
  const asked = countRequests(page, 'GET', /\/api\//)
  await journey.fillWall(olga, 30, 'Новая')
  await journey.publish(olga, 'Самая новая')
  await newPosts(page).waitFor()
  expect(asked()).toBe(0)
  expect(await isAt(read, 150)).toBe(true)
  expect(await postWith(page, 'Самая новая').count()).toBe(0)

  const moves = await recordMoves(read)
  await tapInPlace(newPosts(page))
  const stopped = page.getByText('Вы остановились здесь')
  await stopped.waitFor({ state: 'attached' })
  const toTop = page.getByRole('button', { name: 'К новым записям' })
  await toTop.waitFor()
  await toTop.evaluate((it) => {
    const second = { bubbles: true, detail: 2, pointerType: 'mouse' }
    it.dispatchEvent(new PointerEvent('click', second))
  })
  expect(await moves()).toBeLessThanOrEqual(1)
  expect(await isAt(read, 150)).toBe(true)
  const [mark, first] = [stopped, postWith(page, /^.*Запись 25$/)].map((it) => it.boundingBox())
  expect((await mark)?.y).toBeLessThan((await first)?.y ?? 0)

  await tap(toTop)
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0)
  expect((await postTexts(page))[0]).toBe('Самая новая')
  await toTop.waitFor({ state: 'detached' })
})

test('many new posts come from the nearest up, moving nothing', async ({ journey, olga }) => {
  await journey.fillWall(olga, 15)
  const page = await journey.visitWithNews()
  await readOn(page, 15)
  const below = postWith(page, /^.*Запись 9$/)
  await bringTo(below, 150)
  await journey.fillWall(olga, 14, 'Новая')
  await journey.publish(olga, 'Самая новая')
  await newPosts(page).waitFor()
  const movesBelow = await recordMoves(below)
  await tapInPlace(newPosts(page))
  const read = postWith(page, /^.*Новая 10$/)
  await read.waitFor({ state: 'attached' })
  expect(await movesBelow()).toBeLessThanOrEqual(1)
  expect(await page.getByRole('article').count()).toBe(25)
  expect(await postWith(page, /^.*Новая 1$/).getAttribute('aria-posinset')).toBe('15')

  const above = await holdCalls(page, '**/posts?*cursor=oldest-*')
  await page.evaluate(() => scrollTo(0, 0))
  await above.asked
  const moves = await recordMoves(read)
  above.letGo()
  await postWith(page, 'Самая новая').waitFor({ state: 'attached' })
  expect(await moves()).toBeLessThanOrEqual(1)
  await expectNoBarrier(page, 'new posts above those that were read')
  expect(await page.getByText('Вы остановились здесь').count()).toBe(1)
  const texts = ['Самая новая', ...downFrom(14, 'Новая'), ...downFrom(15, 'Запись')]
  expect(await postTexts(page)).toEqual(texts)
  expect(await postWith(page, /^.*Запись 15$/).getAttribute('aria-posinset')).toBe('16')
})

test('a hidden tab closes its stream, reads once on return', async ({ journey, olga, petr }) => {
  const own = await journey.publish(petr, 'Вернусь позже')
  await journey.fillWall(olga, 12)
  const page = await journey.visitWithNews({ as: petr, before: (it) => it.clock.install() })
  await page.getByRole('link', { name: 'Ответы мне', exact: true }).waitFor()
  const read = postWith(page, /^.*Запись 8$/)
  await bringTo(read, 150)
  await expect.poll(() => page.getByRole('article').count()).toBe(13)
  const asked = countRequests(page, 'GET', /\/api\/v1\/posts/)
  // Without locks each tab has a stream, and a browser opens only six connections to a host.
  const closed = page.waitForEvent('requestfailed', (it) => it.url().endsWith(LIVE_PATH))
  await setVisibility(page, 'hidden')
  await closed
  await page.clock.fastForward('10:00')
  await journey.publish(olga, 'Пока вас не было')
  await journey.reply(olga, own.id, 'Пока тебя не было')
  // The stream may be opened after the read, and begins with what that has brought.
  const stream = await holdCalls(page, `**${LIVE_PATH}`)
  await setVisibility(page, 'visible')
  await newPosts(page).waitFor()
  await page.getByRole('link', { name: 'Ответы мне, новых: 1' }).waitFor()
  stream.letGo()
  await journey.reply(olga, own.id, 'А теперь?')
  await page.getByRole('link', { name: 'Ответы мне, новых: 2' }).waitFor()
  expect(asked()).toBe(1)
  expect(await isAt(read, 150)).toBe(true)
})

test('unreadable new posts show why, deleted ones leave nothing', async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
  const page = await journey.visitWithNews()
  const read = postWith(page, /^.*Запись 8$/)
  await bringTo(read, 150)
  const { id } = await journey.publish(olga, 'Сейчас исчезнет')
  await newPosts(page).waitFor()
  await page.route('**/api/v1/posts?*', (route) => route.fulfill(REFUSED))
  await tapInPlace(newPosts(page))
  await toast(page, REFUSED.json.message).waitFor()
  await expect.poll(() => newPosts(page).getAttribute('aria-disabled')).toBe(null)
  await page.unroute('**/api/v1/posts?*')

  await journey.call('DELETE', `/posts/${id}`, { token: olga.token })
  await tapInPlace(newPosts(page))
  await newPosts(page).waitFor({ state: 'detached' })
  expect(await isAt(read, 150)).toBe(true)
  expect(await page.getByRole('button', { name: 'К новым записям' }).count()).toBe(0)
  expect(await page.getByText('Вы остановились здесь').count()).toBe(0)

  // A stream begins with the newest post, which another node has deleted meanwhile. Its own event
  // may be sent up to a second later, so it is awaited first.
  const { id: gone } = await journey.publish(olga, 'Уже исчезла')
  await newPosts(page).waitFor()
  await page.goto('about:blank')
  await journey.rows('DELETE FROM posts WHERE id = $1', [gone])
  const asked = page.waitForEvent('requestfinished', (it) => /\/posts\?limit/.test(it.url()))
  await page.goto(journey.url)
  await asked
  await bringTo(read, 150)
  expect(await newPosts(page).count()).toBe(0)
})

/**
 * Keeps the page busy as an answer arrives, until the timer is due that starts when the end of the
 * list comes into view: it then runs before React renders the answer.
 */
function stayBusyAtAnswer(): void {
  const { json } = Response.prototype
  const nextTask = () => new Promise((done) => setTimeout(done))
  Response.prototype.json = async function () {
    const answer = await json.call(this)
    for (const y of [0, document.documentElement.scrollHeight]) {
      scrollTo(0, y)
      await new Promise((seen) => new IntersectionObserver(seen).observe(document.body))
      await nextTask()
    }
    const task = nextTask()
    for (const until = performance.now() + 200; performance.now() < until; );
    await task
    return answer
  }
}

function downFrom(count: number, text: string): string[] {
  return Array.from({ length: count }, (_, n) => `${text} ${count - n}`)
}
