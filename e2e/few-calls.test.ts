import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { postWith } from './testing/page-actions.ts'
import { profileLink, signInButton } from './testing/sign-in-actions.ts'

/** Ten of them are longer than the screen, so that the next ones are not read yet. */
const LONG_TEXT = 'Запись на много строк. '.repeat(15)

/** Records the calls of a page that read, and whether each has a token. */
function recordReads(page: Page): string[] {
  const calls: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (request.method() !== 'GET' || !pathname.startsWith('/api/')) return
    const by = request.headers().authorization === undefined ? 'visitor' : 'user'
    calls.push(`${by} ${pathname.slice('/api/v1'.length)}${search}`)
  })
  return calls
}

test('log out goes to the feed, which is read once, and nothing of the viewer is asked for', async ({
  journey,
  olga,
}) => {
  await journey.publish(olga, 'Одна')
  const page = await journey.visit({ as: await journey.signUp(), path: '/settings' })
  const leave = page.getByRole('button', { name: 'Выйти' })
  await leave.waitFor()
  await page.waitForLoadState('networkidle')
  const calls = recordReads(page)
  await leave.click()
  await signInButton(page).waitFor()
  await postWith(page, 'Одна').waitFor()
  await page.waitForLoadState('networkidle')
  expect(calls.filter((call) => call.includes('/users/current'))).toEqual([])
  expect(calls.filter((call) => call.includes(' /posts'))).toHaveLength(1)
})

test('a signed-in reload of the feed reads each page once, also if it takes a while to learn who reads', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 40)
  const page = await journey.visit({ as: await journey.signUp() })
  await profileLink(page).waitFor()
  const { promise: mayKnow, resolve: know } = Promise.withResolvers<void>()
  await page.route('**/api/v1/users/current', async (route) => {
    await mayKnow
    await route.continue()
  })
  await page.waitForLoadState('networkidle')
  const calls = recordReads(page)
  await page.reload()
  const cursors = () => calls.flatMap((call) => /^user \/posts.*cursor=(\d+)/.exec(call)?.[1] ?? [])
  // The page came with its first posts, which are read once for the likes of the viewer.
  await expect.poll(cursors).toHaveLength(2)
  know()
  await profileLink(page).waitFor()
  // A busy machine may ask for the second page first.
  const [first, second] = cursors()
    .map(Number)
    .toSorted((a, b) => b - a)
  expect((first ?? 0) - (second ?? 0)).toBe(10)
  expect(cursors()).toHaveLength(2)
})

test('a signed-in start makes four calls: token, account, posts with likes, and news', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 20, LONG_TEXT)
  const calls: string[] = []
  const page = await journey.visit({
    as: await journey.signUp(),
    before: async (it) => {
      it.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (pathname.startsWith('/api/')) calls.push(`${request.method()} ${pathname}`)
      })
    },
  })
  await profileLink(page).waitFor()
  await page.waitForLoadState('networkidle')
  expect(calls.sort()).toEqual([
    'GET /api/v1/live',
    'GET /api/v1/posts',
    'GET /api/v1/users/current',
    'PATCH /api/v1/sessions/current',
  ])
})
