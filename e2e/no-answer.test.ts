import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { like, postWith, switchView } from './testing/page/feed.ts'
import { countRequests, goOffline, holdCalls } from './testing/page/network.ts'
import { toast, untilStill } from './testing/page/overlays.ts'
import { profileLink, signInButton } from './testing/sign-in-actions.ts'

const REFRESH = '**/api/v1/sessions/current'
const UNAVAILABLE = 'Сервис временно недоступен. Попробуйте через минуту'

test.beforeEach(async ({ journey, olga }) => {
  for (const text of ['Туда и обратно', 'И снова туда']) await journey.publish(olga, text)
})

test('a page without a known session is read, and retries by itself', async ({ journey, olga }) => {
  let asked = 0
  const page = await journey.visit({
    as: olga,
    expectedErrors: /ERR_FAILED/,
    before: (page) =>
      page.route(REFRESH, (it) => {
        asked += 1
        // The early refresh gets no answer at all, and the fourth no retry within an hour.
        if (asked === 1) return it.abort()
        return it.fulfill({ status: 503, headers: asked < 4 ? {} : { 'retry-after': '3600' } })
      }),
  })
  await expect.poll(() => asked).toBe(4)
  await postWith(page, 'И снова туда').waitFor()
  expect(await signInButton(page).count()).toBe(0)
  expect(await profileLink(page).count()).toBe(0)
  const retry = page.getByRole('banner').getByRole('button', { name: 'Повторить' })
  await retry.waitFor()
  // Once refreshes are answered, another call of the page may make the button unnecessary.
  await untilStill(retry)
  await page.unroute(REFRESH)
  await tap(retry)
  await profileLink(page).waitFor()
  expect(await retry.count()).toBe(0)
})

test('what is typed stays while the viewer is read again without an answer', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/username' })
  const field = page.getByLabel('Имя пользователя')
  await write(field, 'half_typed_name')
  let failed = 0
  await page.route('**/users/current', (it) => {
    failed += 1
    return it.fulfill({ status: 503 })
  })
  await page.evaluate(() => new BroadcastChannel('session').postMessage(false))
  await expect.poll(() => failed).toBeGreaterThanOrEqual(2)
  expect(await field.inputValue()).toBe('half_typed_name')
  const read = page.waitForResponse((it) => it.url().endsWith('/users/current') && it.ok())
  await page.unroute('**/users/current')
  await read
  expect(await field.inputValue()).toBe('half_typed_name')
})

test('pages and actions show a missing answer until one comes', async ({ journey, olga }) => {
  // It retries only after an hour.
  const refusal = { status: 503, headers: { 'retry-after': '3600' } }
  const page = await journey.visit({
    as: olga,
    path: '/liked',
    before: (it) => it.route(REFRESH, (route) => route.fulfill(refusal)),
  })
  await page.getByRole('alert').getByText(UNAVAILABLE).waitFor()
  expect(new URL(page.url()).pathname).toBe('/liked')
  await switchView(page, 'Новые')
  await page.waitForURL(`${journey.url}/`)
  const failed = page.getByRole('main').getByRole('alert')
  await failed.getByRole('heading', { name: 'Не получилось загрузить' }).waitFor()
  expect(await page.getByText('Записи не найдены').count()).toBe(0)
  await tap(page.getByRole('button', { name: 'Новая запись' }))
  await toast(page, UNAVAILABLE).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)

  await page.goBack()
  await page.unroute(REFRESH)
  await tap(failed.getByRole('button', { name: 'Повторить' }))
  await profileLink(page).waitFor()
  await page.getByText('Записи не найдены').waitFor()
  await switchView(page, 'Новые')
  await postWith(page, 'И снова туда').waitFor()
  expect(await failed.count()).toBe(0)
})

test('while the viewer is unknown, taps wait; the last one counts', async ({ journey, petr }) => {
  // The server returns the account and the likes only after `letGo()`.
  const held: Awaited<ReturnType<typeof holdCalls>>[] = []
  const page = await journey.visit({
    as: petr,
    before: async (it) => {
      // On a busy machine the taps may take longer than a request may.
      await it.addInitScript(() => {
        AbortSignal.timeout = () => new AbortController().signal
      })
      held.push(await holdCalls(it, '**/api/v1/users/current'))
      held.push(await holdCalls(it, '**/api/v1/posts?*'))
    },
  })
  await Promise.all(held.map(({ asked }) => asked))
  await postWith(page, 'И снова туда').waitFor()
  const heart = (text: string) => like(postWith(page, text))
  const taps = { 'Туда и обратно': 2, 'И снова туда': 3 }
  for (const [text, count] of Object.entries(taps)) {
    for (let n = 0; n < count; n++) {
      await tap(heart(text))
      expect(await heart(text).getAttribute('aria-busy')).toBe(n % 2 === 0 ? 'true' : null)
    }
  }
  const opening = page.getByRole('status', { name: 'Открываем окно' })
  await switchView(page, 'Понравившиеся')
  await opening.waitFor()
  await tap(postWith(page, 'И снова туда').locator('time'))
  await page.waitForURL('**/posts/*')
  expect(await opening.count()).toBe(0)
  await page.goBack()
  await tap(page.getByRole('button', { name: 'Новая запись' }))
  await opening.waitFor()
  await tap(postWith(page, 'И снова туда').getByRole('button', { name: 'Ответить' }))
  const asked = countRequests(page, 'POST', /\/likes$/)
  for (const { letGo } of held) letGo()
  await page.getByRole('dialog', { name: 'Ответ' }).waitFor()
  await opening.waitFor({ state: 'detached' })
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/')

  await expect.poll(() => heart('И снова туда').getAttribute('aria-busy')).toBe(null)
  await expect.poll(() => heart('И снова туда').getAttribute('aria-pressed')).toBe('true')
  expect(await heart('Туда и обратно').getAttribute('aria-pressed')).toBe('false')
  const liked = 'SELECT text FROM posts JOIN likes ON post_id = posts.id'
  await expect.poll(() => journey.rows(liked)).toEqual([{ text: 'И снова туда' }])
  expect(asked()).toBe(1)
})

test('a lost network shows in a banner and in the list', async ({ journey, olga }) => {
  await journey.fillWall(olga, 12)
  const page = await journey.visit({ as: olga, viewport: { width: 390, height: 400 } })
  await expect.poll(() => page.getByRole('article').count()).toBe(10)
  // Chunks that a user needs later load separately.
  await page.waitForLoadState('networkidle')
  await page.evaluate(() => scrollTo(0, 100))
  const post = postWith(page, 'Запись 10')
  const before = await post.boundingBox()
  await goOffline(page)
  const banner = page.getByText(
    'Нет связи. Читать и писать можно: отправим позже. Для отметок и остального нужна связь',
  )
  // Waits until nothing covers it.
  await banner.hover({ trial: true })
  expect(await post.boundingBox()).toEqual(before)
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  const failed = page.getByRole('alert').getByText('Нет связи. Проверьте интернет и повторите')
  await failed.waitFor()
  await page.context().setOffline(false)
  await failed.waitFor({ state: 'detached' })
  await banner.waitFor({ state: 'detached' })
  await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(10)
})
