import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import {
  bringTo,
  isAt,
  postWith,
  readOn,
  refuseNews,
  switchView,
  toast,
} from './testing/page-actions.ts'
import { endSessions, profileLink, signInDialog, signInThrough } from './testing/sign-in-actions.ts'

let post: Post
test.beforeEach(async ({ journey, olga }) => {
  post = await journey.publish(olga, 'Окна выходят во двор.')
})

test.for([
  ['a view of the switcher', '/', '/own/posts', 'Мои записи'],
  ['a secured address', '/settings/devices', '/settings/devices', 'Устройства'],
] as const)(
  'a visitor’s intent, %s, is carried out after signing in',
  async ([_intent, path, wanted, title], { journey }) => {
    const { email } = await journey.signUp()
    const page = await journey.visit({ path })
    await page.waitForURL(`${journey.url}/`)
    if (path === '/') await switchView(page, title)
    await page.getByRole('dialog', { name: 'Вход' }).waitFor()
    await signInThrough(journey, page, email)
    await page.waitForURL(`**${wanted}`)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
  },
)

test('an intent survives a reload on the code step, and is performed once', async ({ journey }) => {
  const { email } = await journey.signUp()
  const page = await journey.visit({ path: `/posts/${post.id}`, before: refuseNews })
  const { dialog, code } = signInDialog(page)
  await page.getByRole('button', { name: 'Войдите, чтобы ответить' }).click()
  await dialog.getByLabel('Электронная почта').fill(email)
  await page.keyboard.press('Enter')
  await code.waitFor()
  await page.reload()
  const reloaded = page.waitForEvent('load')
  await code.fill(await journey.nextCode(email))
  await reloaded
  const reply = page.getByRole('dialog', { name: 'Ответ' })
  await reply.waitFor()
  await page.keyboard.press('Escape')
  await reply.waitFor({ state: 'detached' })

  await page.reload()
  await profileLink(page).waitFor()
  // A dialog would have to load its chunk first.
  await page.waitForLoadState('networkidle')
  expect(await dialog.count()).toBe(0)
})

test('signing in deep in the wall returns to the same place, where the like that asked for it is set, so no toast shows', async ({
  journey,
}) => {
  const author = await journey.signUp()
  await journey.fillWall(author, 30)
  const page = await journey.visit()
  await readOn(page, 20)
  const far = postWith(page, 'Запись 12')
  await bringTo(far, 217)
  await like(far).click()
  await signInThrough(journey, page, author.email)
  await expect.poll(() => like(far).getAttribute('aria-pressed')).toBe('true')
  await expect.poll(() => isAt(far, 217)).toBe(true)
  expect(await toast(page, 'Добавлено в «Понравившиеся»').count()).toBe(0)

  await page.goto(journey.url)
  await profileLink(page).waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
})

test('an expired session shows one toast, and the heart is set when the same person signs in by it', async ({
  journey,
}) => {
  const { page, user } = await visitEndedSession(journey)
  await like(page).click()
  await toast(page, 'Сессия завершена. Войдите снова').waitFor()
  await page.getByRole('status').getByRole('button', { name: 'Войти' }).click()
  // Enough time for a second toast to follow.
  await page.clock.fastForward(1000)
  expect(await toast(page, 'Войдите, чтобы продолжить').count()).toBe(0)
  await signInThrough(journey, page, user.email)
  await expect.poll(() => like(page).getAttribute('aria-pressed')).toBe('true')
  const likes = () => journey.rows('SELECT FROM likes WHERE user_id = $1', [user.id])
  await expect.poll(likes).toHaveLength(1)
})

test('a report in an expired session offers to sign in, once, and opens again afterwards', async ({
  journey,
}) => {
  const { page, user } = await visitEndedSession(journey)
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  await page.getByRole('button', { name: 'Ещё' }).click()
  await page.getByRole('menuitem', { name: 'Пожаловаться' }).click()
  await dialog.getByRole('radio').first().check()
  await dialog.getByRole('button', { name: 'Отправить' }).click()
  await dialog.getByRole('alert').getByText('Войдите, чтобы продолжить').waitFor()
  await toast(page, 'Сессия завершена. Войдите снова').waitFor()
  // The toast above it has no button.
  await dialog.getByRole('button', { name: 'Войти' }).click()
  await signInThrough(journey, page, user.email)
  await dialog.getByRole('radio').first().waitFor()
})

/** Opens the wall's one post as a user, whose session ends when the page has made its calls. */
async function visitEndedSession(journey: Journey) {
  const user = await journey.signUp()
  let listRead: Promise<unknown> | undefined
  const page = await journey.visit({
    as: user,
    before: async (it) => {
      await refuseNews(it)
      await it.clock.install()
      listRead = it.waitForResponse(/\/api\/v1\/posts\?/)
    },
  })
  await Promise.all([listRead, profileLink(page).waitFor()])
  await page.waitForLoadState('networkidle')
  await endSessions(journey, user)
  return { page, user }
}

function like(where: Page | Locator) {
  return where.getByRole('button', { name: 'Нравится' })
}
