import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { deriveKey, signText } from '../server/kernel/config/app-secret.ts'
import { tap } from './testing/hands.ts'
import { test } from './testing/journey.ts'
import { APP_SECRET } from './testing/product.ts'

const STOPPED = 'Больше не пришлём писем об ответах'

const linkFor = (userId: string) =>
  `/reply-mails?token=${signText(userId, deriveKey(APP_SECRET, 'unsubscribe'))}`
const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const stop = (page: Page) => page.getByRole('button', { name: 'Больше не присылать' })

test.for([true, false])(
  'who is signed out stops mails by their link, with scripts: %s',
  async (javaScriptEnabled, { journey, olga }) => {
    const wantsMail = async () =>
      (await journey.call('GET', '/users/current/received', { token: olga.token })).body.wantsMail
    const path = linkFor(olga.id)
    const referrers: (string | undefined)[] = []
    const page = await journey.visit({
      path,
      javaScriptEnabled,
      // They run with the first use.
      waitsForScripts: false,
      before: async (opened) => {
        opened.on('request', (request) => referrers.push(request.headers().referer))
      },
    })
    await expect.poll(() => heading(page).textContent()).toBe('Не присылать писем об ответах?')
    expect(await page.title()).toBe('Письма об ответах - Вслух')
    // Programs that check links open them too.
    expect(await wantsMail()).toBe(true)
    await tap(stop(page))
    await expect.poll(() => heading(page).textContent()).toBe(STOPPED)
    expect(await wantsMail()).toBe(false)
    expect(page.url()).not.toContain('token')
    expect(referrers.filter((referrer) => referrer?.includes('token'))).toEqual([])
    const advice = page.getByRole('main').getByRole('link', { name: 'настройках' })
    expect(await advice.getAttribute('href')).toBe('/settings')

    await page.goto(journey.url + path.slice(0, -1))
    await expect.poll(() => heading(page).textContent()).toBe('Ссылка не действует')
    expect(await stop(page).count()).toBe(0)
  },
)
