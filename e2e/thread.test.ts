import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { tap } from './testing/hands.ts'
import { type Journey, test, type Visit } from './testing/journey.ts'
import { postTexts, postWith } from './testing/page/feed.ts'
import { bringTo, isAt, readOn } from './testing/page/layout.ts'
import { holdCalls, REFUSED } from './testing/page/network.ts'
import { focused } from './testing/page/tab.ts'
import { profileLink } from './testing/sign-in-actions.ts'

const TEXTS = ['Кто начал?', 'Я начал', 'Второй', 'Третий', 'Четвёртый', 'Я и закончу']

let thread: Post[]
let root: Post
let middle: Post
let last: Post
test.beforeEach(async ({ journey, olga, petr }) => {
  thread = [await journey.publish(olga, TEXTS[0])]
  for (const text of TEXTS.slice(1)) {
    const author = text === 'Третий' ? petr : olga
    thread.push(await journey.reply(author, thread.at(-1)?.id ?? '', text))
  }
  ;[root, middle, last] = [0, 1, -1].map((at) => thread.at(at) as Post) as [Post, Post, Post]
})

test('the posts above a reply unfold without moving it, and stay', async ({ journey }) => {
  const page = await openLast(journey, { before: (it) => it.clock.install() })
  expect(await postTexts(page)).toEqual(TEXTS.slice(2))
  for (const top of [null, 60]) {
    if (top !== null) await bringTo(postWith(page, 'Я и закончу'), top)
    const before = await topOf(page, last)
    // Not with click(), which would scroll to the button first.
    await page.getByRole('button', { name: 'Показать ещё 2 записи выше' }).dispatchEvent('click')
    await postWith(page, 'Кто начал?').waitFor()
    expect(await postTexts(page)).toEqual(TEXTS)
    expect(Math.abs((await topOf(page, last)) - before)).toBeLessThan(1)
    expect(await page.getByRole('link', { name: 'К началу ветки' }).count()).toBe(0)
    await postWith(page, 'Второй').and(page.locator(':focus')).waitFor()
    await page.reload()
    await postWith(page, 'Я и закончу').waitFor()
  }
  await tap(page.getByRole('button', { name: /^Показать ещё/ }))
  await tap(postWith(page, 'Кто начал?').getByText('Кто начал?'))
  await page.getByRole('heading', { name: 'Запись' }).waitFor()
  await page.clock.fastForward('10:00')
  await page.goBack()
  await page.getByRole('heading', { name: 'Ответ', exact: true }).waitFor()
  await expect.poll(() => postTexts(page)).toEqual(TEXTS)
})

test('posts that arrive above a reply move neither it nor the focus', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/own/replies' })
  const reply = postWith(page, 'Четвёртый')
  const calls = await holdCalls(page, /\/ancestors/)
  await tap(reply.getByText('Четвёртый').last())
  await page.waitForURL('**/posts/*')
  await calls.asked
  const field = page.getByRole('textbox', { name: 'Ваш ответ' })
  await field.waitFor()
  const before = await topOf(page, thread[4])
  calls.letGo()
  await postWith(page, 'Второй').first().waitFor()
  expect(Math.abs((await topOf(page, thread[4])) - before)).toBeLessThan(1)

  const more = await holdCalls(page, /\/ancestors/)
  const unfold = page.getByRole('button', { name: /^Показать ещё/ })
  await tap(unfold)
  await more.asked
  await field.focus()
  more.letGo()
  await unfold.waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Ваш ответ')
})

test('a removed post above a reply is a placeholder', async ({ journey }) => {
  await journey.removePosts('id', thread[3]?.id)
  const page = await openLast(journey)
  const shown = TEXTS.filter((text) => text !== 'Третий')
  expect(await postTexts(page)).toEqual(shown.slice(1))
  await page.getByText('Запись удалена').waitFor()
  await tap(page.getByRole('button', { name: 'Показать ещё 1 запись выше' }))
  await expect.poll(() => postTexts(page)).toEqual(shown)
  expect(await page.getByText('Запись удалена').count()).toBe(1)
})

test('replies since the last visit are marked, and in order', async ({ journey, olga, petr }) => {
  const fresh = async (page: Page) =>
    (await page.locator('article[data-fresh] [id$="-text"]').allTextContents()).toSorted()
  const widthOfTime = async (text: string) =>
    (await postWith(page, text).locator('a:has(time)').boundingBox())?.width
  const former = Array.from({ length: 11 }, (_, n) => `Ответ ${n + 2}`)
  await journey.fillThread(olga, root.id, former)
  const path = `/posts/${root.id}`
  const page = await journey.visit({ as: petr, path })
  const stored = () => page.evaluate(() => localStorage.getItem('threads'))
  await expect.poll(stored).toContain(root.id)
  expect(await fresh(page)).toEqual([])
  await page.goto(journey.url)
  await journey.reply(petr, root.id, 'Мой ответ')
  await journey.fillThread(olga, root.id, ['Ответ 13', 'Ответ 14'])

  await page.goto(journey.url + path)
  await expect.poll(() => fresh(page)).toEqual(['Ответ 13', 'Ответ 14'])
  const [marked = 0, plain = 0] = await Promise.all(['Ответ 14', 'Ответ 12'].map(widthOfTime))
  // The mark is on the line of the time.
  expect(marked).toBeGreaterThan(plain + 40)
  expect(await page.getByRole('link', { name: / · новый$/ }).count()).toBe(2)
  await tap(page.getByRole('link', { name: 'К новым' }))
  const inOrder = ['Мой ответ', 'Ответ 13', 'Ответ 14']
  await expect.poll(async () => (await postTexts(page)).slice(1)).toEqual(inOrder)
  expect(await fresh(page)).toEqual(['Ответ 13', 'Ответ 14'])
  await tap(postWith(page, 'Ответ 13').locator('time'))
  await page.waitForURL((url) => !url.pathname.endsWith(path))
  await page.goBack()
  await expect.poll(() => fresh(page)).toEqual(['Ответ 13', 'Ответ 14'])

  await page.goto(journey.url)
  await page.goto(journey.url + path)
  await postWith(page, 'Ответ 14').waitFor()
  await profileLink(page).waitFor()
  await page.getByRole('link', { name: 'К первым' }).waitFor()
  expect(await fresh(page)).toEqual([])

  await tap(page.getByRole('link', { name: 'К первым' }))
  await readOn(page, 16)
  expect(await postTexts(page)).toEqual(['Кто начал?', 'Я начал', ...former, ...inOrder])
  expect(await page.getByRole('link', { name: 'К началу' }).count()).toBe(0)
  const read = postWith(page, 'Ответ 5')
  await bringTo(read, 217)
  await page.reload()
  await expect.poll(() => isAt(read, 217)).toBe(true)
  await tap(page.getByRole('link', { name: 'К новым' }))
  await page.waitForURL(`**${path}`)
  await expect.poll(async () => (await postTexts(page))[1]).toBe('Ответ 14')
})

test('a replied post that fails to load offers a retry, in its own space', async ({ journey }) => {
  const page = await openLast(journey)
  await page.route(callsAbove(), (route) => route.fulfill(REFUSED))
  await tap(page.getByRole('link', { name: /Я начал/ }))
  await page.waitForURL(`**/posts/${middle.id}`)
  const repeat = page.getByRole('alert').getByRole('button', { name: 'Повторить' })
  await repeat.waitFor()
  await page.unroute(callsAbove())
  const calls = await holdCalls(page, callsAbove())
  await tap(repeat)
  const loading = page.getByRole('status', { name: 'Загружаем запись' })
  await loading.waitFor()
  const before = await topOf(page, middle)
  calls.letGo()
  await postWith(page, 'Кто начал?').waitFor()
  expect(await loading.count()).toBe(0)
  expect(Math.abs((await topOf(page, middle)) - before)).toBeLessThanOrEqual(1)
})

/** Opens the end of the thread as a visitor. Its beginning is not loaded yet. */
async function openLast(journey: Journey, visit: Visit = {}): Promise<Page> {
  const page = await journey.visit({ path: `/posts/${last.id}`, ...visit })
  await postWith(page, 'Я и закончу').waitFor()
  return page
}

/** Returns a pattern for calls that read one of the first two posts. */
const callsAbove = () => new RegExp(`/api/v1/posts/(?:${root.id}|${middle.id})$`)

const topOf = (page: Page, post: Post | undefined) =>
  page.locator(`[data-post-id="${post?.id}"]`).evaluate((it) => it.getBoundingClientRect().top)
