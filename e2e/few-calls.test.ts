import { expect } from 'vitest'
import { desktopTest as test } from './testing/journey.ts'
import { holdCalls } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

/** Ten posts of this text are longer than the screen, so that the next ones are not read yet. */
const LONG_TEXT = 'Запись на много строк. '.repeat(15)

test('a signed-in reload of the feed reads each page once, even if the viewer becomes known late', async ({
  journey,
  olga,
}) => {
  await journey.fillWall(olga, 40)
  const page = await journey.visit({ as: await journey.signUp() })
  await profileLink(page).waitFor()
  const viewer = await holdCalls(page, '**/api/v1/users/current')
  await page.waitForLoadState('networkidle')
  const cursors: number[] = []
  page.on('request', (request) => {
    const cursor = /\/api\/v1\/posts\?.*cursor=(\d+)/.exec(request.url())?.[1]
    if (cursor && request.headers().authorization) cursors.push(Number(cursor))
  })
  await page.reload()
  // The page came with its first posts, which are read once for the likes of the viewer.
  await expect.poll(() => cursors).toHaveLength(2)
  viewer.letGo()
  await profileLink(page).waitFor()
  await page.waitForLoadState('networkidle')
  // A busy machine may request the second page first.
  const [second = 0, first = 0] = cursors.toSorted((a, b) => a - b)
  expect(first - second).toBe(10)
  expect(cursors).toHaveLength(2)
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
  await expect.poll(() => calls.length).toBeGreaterThanOrEqual(4)
  await page.waitForLoadState('networkidle')
  expect(calls.sort()).toEqual([
    'GET /api/v1/live',
    'GET /api/v1/posts',
    'GET /api/v1/users/current',
    'PATCH /api/v1/sessions/current',
  ])
})
