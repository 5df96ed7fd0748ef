import { expect } from 'vitest'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { recordShifts, sumOfShifts, untilPainted } from './testing/layout-shifts.ts'
import { postWith, readOn } from './testing/page-actions.ts'
import { profileLink } from './testing/sign-in-actions.ts'

const SCRIPTS = '**/assets/*.js'
const REFRESH = '**/api/v1/sessions/current'
const REFRESH_PATH = /\/sessions\/current$/

/** Ten posts of this text are longer than the screen, so that the next ones are not read yet. */
const LONG_TEXT = 'Запись на много строк. '.repeat(15)

test.beforeEach(async ({ journey, olga }) => {
  await journey.fillWall(olga, 20, LONG_TEXT)
  await journey.publish(olga, 'Первая')
})

test('a signed-in user’s token arrives before the scripts; with account, posts with likes, and news it makes four calls', async ({
  journey,
  olga,
}) => {
  const refreshed = Promise.withResolvers<void>()
  const calls: string[] = []
  const page = await journey.visit({
    as: olga,
    waitsForScripts: false,
    before: async (it) => {
      // No script arrives before the answer to the refresh.
      await it.route(SCRIPTS, async (route) => {
        await refreshed.promise
        await route.continue()
      })
      it.on('requestfinished', (request) => {
        if (REFRESH_PATH.test(request.url())) refreshed.resolve()
      })
      it.on('request', (request) => {
        const { pathname } = new URL(request.url())
        if (pathname.startsWith('/api/')) calls.push(`${request.method()} ${pathname}`)
      })
    },
  })
  await postWith(page, 'Первая').waitFor()
  await profileLink(page).waitFor()
  expect(calls[0]).toBe('PATCH /api/v1/sessions/current')
  // The browser reports a request a moment after the page has made it.
  await expect.poll(() => calls.length).toBeGreaterThanOrEqual(4)
  await page.waitForLoadState('networkidle')
  expect(calls.slice(1).sort()).toEqual([
    'GET /api/v1/live',
    'GET /api/v1/posts',
    'GET /api/v1/users/current',
  ])
})

test.for([
  ['a phone', PHONE],
  ['a desktop', DESKTOP],
] as const)(
  'a signed-in user reads before the scripts load, on %s: nothing for visitors is shown, nothing moves, and then their likes appear',
  async ([_, viewport], { journey, olga }) => {
    const { body } = await journey.call('GET', '/posts')
    await journey.call('POST', `/posts/${body.posts[0].id}/likes`, { token: olga.token })
    const scripts = Promise.withResolvers<void>()
    const page = await journey.visit({
      as: olga,
      viewport,
      waitsForScripts: false,
      before: async (it) => {
        await recordShifts(it)
        await it.addInitScript(recordSeenForVisitors)
        await it.route(SCRIPTS, async (route) => {
          await scripts.promise
          await route.continue()
        })
      },
    })
    await postWith(page, 'Первая').waitFor()
    await untilPainted(page)
    scripts.resolve()
    await profileLink(page).waitFor()
    const like = postWith(page, 'Первая').getByRole('button', { name: 'Нравится' })
    await expect.poll(() => like.getAttribute('aria-pressed')).toBe('true')
    expect(await sumOfShifts(page)).toBeLessThan(0.001)
    expect(await page.evaluate(() => Reflect.get(window, 'seenForVisitors'))).toEqual([])
    await readOn(page, 20)
  },
)

test('if the early refresh gets no answer, the app sends a refresh itself', async ({
  journey,
  olga,
}) => {
  let asked = 0
  const page = await journey.visit({
    as: olga,
    waitsForScripts: false,
    expectedErrors: /ERR_FAILED/,
    before: (it) =>
      it.route(REFRESH, (route) => (asked++ === 0 ? route.abort() : route.continue())),
  })
  await profileLink(page).waitFor()
  expect(asked).toBe(2)
})

/** Records which parts of a visitor's page are visible in any frame. */
function recordSeenForVisitors(): void {
  const seen = new Set<string>()
  Object.defineProperty(window, 'seenForVisitors', { get: () => [...seen] })
  const look = () => {
    for (const element of document.querySelectorAll('header button, main > p')) {
      const text = element.textContent ?? ''
      const isFor = text === 'Войти' || text.includes('стена коротких записей')
      if (isFor && element.checkVisibility({ visibilityProperty: true })) seen.add(text)
    }
    requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
