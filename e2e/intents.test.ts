import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { postWith, readOn, refuseNews, toast } from './testing/page-actions.ts'
import {
  endSessions,
  profileLink,
  signInButton,
  signInDialog,
  signInThrough,
} from './testing/sign-in-actions.ts'

test.beforeEach(async ({ journey }) => {
  await journey.publish(await journey.signUp(), 'Окна выходят во двор.')
})

type Intent = {
  intent: string
  ask: (page: Page, fixtures: { journey: Journey }) => Promise<void>
  expectDone: (page: Page) => Promise<void>
}

const INTENTS: Intent[] = [
  {
    intent: 'a view of the switcher',
    ask: async (page) => {
      await page.getByRole('button', { name: 'Новые' }).click()
      await page.getByRole('option', { name: 'Мои записи' }).click()
    },
    expectDone: (page) => page.waitForURL('**/own/posts'),
  },
  {
    intent: 'a secured address',
    ask: async (page, { journey }) => {
      await page.goto(`${journey.url}/settings/devices`)
      await page.waitForURL(`${journey.url}/`)
    },
    expectDone: async (page) => {
      await page.waitForURL('**/settings/devices')
      await page.getByRole('heading', { name: 'Текущая сессия' }).waitFor()
    },
  },
]

test.for(INTENTS)(
  'a visitor’s intent, $intent, is carried out after signing in',
  async ({ ask, expectDone }, { journey }) => {
    const { email } = await journey.signUp()
    const page = await journey.visit()
    await like(page).waitFor()
    await ask(page, { journey })
    await page.getByRole('dialog', { name: 'Вход' }).waitFor()
    await signInThrough(journey, page, email)
    await profileLink(page).waitFor()
    await expectDone(page)
  },
)

test('an intent is dropped when its sign-in dialog is closed, even if the visitor signs in later', async ({
  journey,
}) => {
  const { email } = await journey.signUp()
  const page = await journey.visit({ before: refuseNews })
  const { dialog } = signInDialog(page)
  await page.getByRole('button', { name: 'Ответить' }).click()
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await signInButton(page).click()
  await signInThrough(journey, page, email)
  await profileLink(page).waitFor()
  // A dialog would have to load its chunk first.
  await page.waitForLoadState('networkidle')
  expect(await dialog.count()).toBe(0)
})

test('an intent survives a reload on the code step, and is performed once', async ({ journey }) => {
  const { email } = await journey.signUp()
  const page = await journey.visit({ before: refuseNews })
  const { dialog, code } = signInDialog(page)
  await page.getByRole('button', { name: 'Ответить' }).click()
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

test('after signing in, a like that was set far down the wall is visible there, so no toast shows', async ({
  journey,
}) => {
  const author = await journey.signUp()
  await journey.fillWall(author, 30)
  const page = await journey.visit()
  await readOn(page, 20)
  const far = postWith(page, 'Запись 12')
  await like(far).click()
  await signInThrough(journey, page, author.email)
  await expect.poll(() => like(far).getAttribute('aria-pressed')).toBe('true')
  await expect
    .poll(() => far.evaluate((it) => it.getBoundingClientRect().top < innerHeight))
    .toBe(true)
  expect(await toast(page, 'Добавлено в «Понравившиеся»').count()).toBe(0)
})

test.for([
  { who: 'the same person', isSame: true },
  { who: 'somebody else', isSame: false },
])(
  'an expired session shows one toast, and the heart is set when $who signs in by it: $isSame',
  async ({ isSame }, { journey }) => {
    const { page, user } = await visitEndedSession(journey)
    const next = isSame ? user : await journey.signUp()
    await like(page).click()
    await toast(page, 'Сессия завершена. Войдите снова').waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Войти' }).click()
    // Enough time for a second toast to follow.
    await page.clock.fastForward(1000)
    expect(await toast(page, 'Войдите, чтобы продолжить').count()).toBe(0)
    await signInThrough(journey, page, next.email)
    await profileLink(page).waitFor()
    if (!isSame) await page.waitForLoadState('networkidle')
    await expect.poll(() => like(page).getAttribute('aria-pressed')).toBe(String(isSame))
    await expect
      .poll(() => journey.rows('SELECT FROM likes WHERE user_id = $1', [next.id]))
      .toHaveLength(isSame ? 1 : 0)
  },
)

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
  await journey.emptyWall()
  await journey.publish(await journey.signUp(), 'Окна выходят во двор.')
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
