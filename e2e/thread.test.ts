import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { journey, olga, test } from './testing/journey.ts'
import { holdCalls, postWith } from './testing/page-actions.ts'

let root: Post
let middle: Post
let last: Post
beforeEach(async () => {
  root = await journey.publish(olga, 'Кто начал?')
  middle = await journey.reply(olga, root.id, 'Я начал')
  last = await journey.reply(olga, middle.id, 'Я и закончу')
})

test('a post that is loading is announced', async () => {
  const page = await openLast()
  const calls = await holdCalls(page, callsFor(root))
  await page.getByRole('link', { name: 'К началу ветки' }).click()
  await loadingOn(page).waitFor()
  calls.letGo()
  await postWith(page, 'Кто начал?').waitFor()
  expect(await loadingOn(page).count()).toBe(0)
})

test('space is reserved for the replied post before it is loaded, so nothing below it moves', async () => {
  const page = await openLast()
  const calls = await holdCalls(page, callsFor(root, middle))
  await goToMiddle(page)
  await loadingOn(page).waitFor()
  const before = await topOfMiddle(page)
  calls.letGo()
  await postWith(page, 'Кто начал?').waitFor()
  expect(Math.abs((await topOfMiddle(page)) - before)).toBeLessThanOrEqual(1)
})

test('when the replied post cannot be loaded, the thread says so and offers a retry', async () => {
  const page = await openLast()
  await page.route(callsFor(root, middle), (route) => route.abort())
  await goToMiddle(page)
  const failure = page.getByRole('alert').filter({ hasText: 'Сервер не отвечает' })
  await failure.waitFor()
  await page.unroute(callsFor(root, middle))
  await failure.getByRole('button', { name: 'Повторить' }).click()
  await postWith(page, 'Кто начал?').waitFor()
})

/** Opens the end of the thread as a visitor, before its beginning was loaded. */
async function openLast(): Promise<Page> {
  const page = await journey.visit({ path: `/posts/${last.id}` })
  await postWith(page, 'Я и закончу').waitFor()
  return page
}

async function goToMiddle(page: Page): Promise<void> {
  await postWith(page, 'Я начал').getByText('Я начал').click()
  await page.waitForURL(`**/posts/${middle.id}`)
}

/** The address of calls that read a single post. */
function callsFor(...posts: Post[]): RegExp {
  return new RegExp(`/api/v1/posts/(?:${posts.map(({ id }) => id).join('|')})$`)
}

function loadingOn(page: Page) {
  return page.getByRole('status', { name: 'Загружаем запись' })
}

function topOfMiddle(page: Page): Promise<number> {
  const post = page.locator(`[data-post-id="${middle.id}"]`)
  return post.evaluate((it) => it.getBoundingClientRect().top)
}
