import { expect } from 'vitest'
import type { Post } from '../contract/posts.ts'
import { tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { chooseFromMenu, like, postWith } from './testing/page/feed.ts'
import { bringTo, isAt, readOn } from './testing/page/layout.ts'
import { refuseNews } from './testing/page/network.ts'
import { toast } from './testing/page/overlays.ts'
import { depth } from './testing/page/tab.ts'
import {
  endSessions,
  enterCode,
  profileLink,
  sendEmail,
  signInDialog,
  signInThrough,
} from './testing/sign-in-actions.ts'

let post: Post
test.beforeEach(async ({ journey, olga }) => {
  post = await journey.publish(olga, 'Окна выходят во двор.')
})

test('an intent survives a reload on the code step, and runs once', async ({ journey, petr }) => {
  const page = await journey.visit({ path: `/posts/${post.id}`, before: refuseNews })
  const { dialog } = signInDialog(page)
  await tap(page.getByRole('button', { name: 'Войдите, чтобы ответить' }))
  await sendEmail(page, petr.email)
  await page.reload()
  await enterCode(page, await journey.nextCode(petr.email))
  const reply = page.getByRole('dialog', { name: 'Ответ' })
  await reply.waitFor()
  await page.keyboard.press('Escape')
  await reply.waitFor({ state: 'detached' })

  // A reload would fail while the dialog's entry is being left.
  await expect.poll(() => depth(page)).toBe(0)
  await page.reload({ waitUntil: 'networkidle' })
  await profileLink(page).waitFor()
  // A dialog would have loaded its chunk by now.
  expect(await dialog.count()).toBe(0)
})

test('signing in for a like deep in the wall returns to it', async ({ journey, petr }) => {
  await journey.fillWall(petr, 30)
  const page = await journey.visit()
  await readOn(page, 20)
  const far = postWith(page, 'Запись 12')
  await bringTo(far, 217)
  await tap(like(far))
  await signInThrough(journey, page, petr.email)
  await expect.poll(() => like(far).getAttribute('aria-pressed')).toBe('true')
  await expect.poll(() => isAt(far, 217)).toBe(true)
  // The like is in sight.
  expect(await toast(page, 'Добавлено в «Понравившиеся»').count()).toBe(0)

  await page.goto(journey.url)
  await profileLink(page).waitFor()
  expect(await page.evaluate(() => scrollY)).toBe(0)
})

test('a report in an expired session opens again after signing in', async ({ journey, petr }) => {
  let listRead: Promise<unknown> | undefined
  const page = await journey.visit({
    as: petr,
    before: async (it) => {
      await refuseNews(it)
      await it.clock.install()
      listRead = it.waitForResponse(/\/api\/v1\/posts\?/)
    },
  })
  await Promise.all([listRead, profileLink(page).waitFor()])
  await page.waitForLoadState('networkidle')
  await endSessions(journey, petr)
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  const send = dialog.getByRole('button', { name: 'Отправить' })
  const refusal = dialog.getByRole('alert').getByText('Войдите, чтобы продолжить')
  await chooseFromMenu(page.getByRole('article'), 'Пожаловаться')
  await toast(page, 'Сессия завершена. Войдите снова').waitFor()
  await dialog.getByRole('radio').first().check()
  await tap(send)
  await refusal.waitFor()
  // Enough time for a second toast to follow.
  await page.clock.fastForward(1000)
  expect(await toast(page, 'Войдите, чтобы продолжить').count()).toBe(0)
  // The toast above it has no button.
  await tap(dialog.getByRole('button', { name: 'Войти' }))
  await signInThrough(journey, page, petr.email)
  await dialog.getByRole('radio').last().check()
  const comment = dialog.getByLabel('Что нарушено?')
  await write(comment, 'Переписано с чужой страницы')
  await endSessions(journey, petr)
  await tap(send)
  await refusal.waitFor()
  expect(await comment.inputValue()).toBe('Переписано с чужой страницы')
})
