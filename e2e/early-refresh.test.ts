import { expect } from 'vitest'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { recordShifts, sumOfShifts, untilPainted } from './testing/layout-shifts.ts'
import { like, postWith } from './testing/page/feed.ts'
import { recordFrames } from './testing/page/layout.ts'
import { holdCalls } from './testing/page/network.ts'
import { profileLink } from './testing/sign-in-actions.ts'

test.for([
  ['a phone', PHONE],
  ['a desktop', DESKTOP],
] as const)(
  'on %s a user’s token, posts, account and likes arrive, and nothing for visitors shows or moves',
  async ([_, viewport], { journey, olga }) => {
    // No more than one read returns, so that no next one follows.
    await journey.fillWall(olga, 9)
    const { id } = await journey.publish(olga, 'Первая')
    await journey.call('POST', `/posts/${id}/likes`, { token: olga.token })
    let sendScripts = () => {}
    let seen = async (): Promise<string[]> => []
    let refreshed: Promise<unknown> | undefined
    const calls: string[] = []
    const page = await journey.visit({
      as: olga,
      viewport,
      waitsForScripts: false,
      before: async (it) => {
        await recordShifts(it)
        seen = await recordFrames(it, seenForVisitors)
        sendScripts = (await holdCalls(it, '**/assets/*.js')).letGo
        refreshed = it.waitForResponse('**/api/v1/sessions/current')
        it.on('request', (request) => {
          const { pathname } = new URL(request.url())
          if (pathname.startsWith('/api/')) calls.push(`${request.method()} ${pathname}`)
        })
      },
    })
    await postWith(page, 'Первая').waitFor()
    await untilPainted(page)
    await refreshed
    expect(calls).toEqual(['PATCH /api/v1/sessions/current'])
    sendScripts()
    await profileLink(page).waitFor()
    const heart = like(postWith(page, 'Первая'))
    await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('true')
    expect(await sumOfShifts(page)).toBeLessThan(0.001)
    expect(await seen()).toEqual([])
    await page.waitForLoadState('networkidle')
    const after = ['GET /api/v1/live', 'GET /api/v1/posts', 'GET /api/v1/users/current']
    await expect.poll(() => calls.slice(1).sort()).toEqual(after)
  },
)

/** Names the parts of a visitor's page that are visible. */
function seenForVisitors(): string {
  const parts = [...document.querySelectorAll('header button, main > p')].filter((it) =>
    /^Войти$|стена коротких записей/.test(it.textContent ?? ''),
  )
  const seen = parts.filter((it) => it.checkVisibility({ visibilityProperty: true }))
  return seen.map((it) => it.textContent).join()
}
