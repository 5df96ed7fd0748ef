import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { submitPost } from './testing/page/compose.ts'
import { chooseFromMenu, like, postWith } from './testing/page/feed.ts'
import { bringTo, isAt, readOn } from './testing/page/layout.ts'
import { countRequests, refuseNews, refuseOnce } from './testing/page/network.ts'
import { closeByKey, dialogOf, toast } from './testing/page/overlays.ts'
import { restoreFromCache } from './testing/page/tab.ts'
import {
  changeUserInOtherTab,
  profileLink,
  signInButton,
  signInDialog,
  signInElsewhere,
  signInThrough,
} from './testing/sign-in-actions.ts'

const PUBLICATION = '**/api/v1/posts'

test('no pending like, waiting text or open dialog passes to the next user', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.publish(olga, 'Чужая отметка')
  const vera = await journey.signUp()
  const page = await journey.visit({ as: vera, before: (it) => it.clock.install() })
  await page.context().route(PUBLICATION, (route) => route.abort())
  await closeByKey(await submitPost(page, 'Пишет Вера'))
  const waits = page.getByText('1 запись ждёт связи.')
  await waits.waitFor()
  await refuseOnce(page, '**/likes', 'Не больше 300 отметок в сутки. Попробуйте позже', 28)
  const post = postWith(page, 'Чужая отметка')
  const heart = like(post)
  await tap(heart)
  await toast(page, 'Не больше 300 отметок в сутки. Отправим через 0:28').waitFor()
  expect(await heart.getAttribute('aria-pressed')).toBe('true')
  await chooseFromMenu(post, 'Пожаловаться')
  const dialog = await dialogOf(page, 'Пожаловаться')
  await changeUserInOtherTab(journey, page, { former: vera, next: petr })
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('false')
  expect(await waits.count()).toBe(0)
  await page.context().unroute(PUBLICATION)
  await page.clock.runFor(30_000)
  // Petr's own like and text arrive after Vera's would have arrived.
  await tap(heart)
  const likes = () => journey.rows('SELECT user_id FROM likes')
  await expect.poll(likes).toEqual([{ user_id: petr.id }])
  await submitPost(page, 'Пишет Пётр')
  await toast(page, 'Опубликовано').waitFor()
  const ofVera = () => journey.rows('SELECT text FROM posts WHERE owner_id = $1', [vera.id])
  expect(await ofVera()).toEqual([])

  const { clientToken } = vera
  await changeUserInOtherTab(journey, page, { former: { ...petr, clientToken }, next: vera })
  await expect.poll(ofVera).toEqual([{ text: 'Пишет Вера' }])
})

test('a long list reads only the likes near the reader for the next user', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.fillWall(olga, 60)
  await journey.rows(
    `INSERT INTO likes (post_id, user_id)
     SELECT id, $1 FROM posts WHERE text IN ('Запись 10', 'Запись 60')`,
    [petr.id],
  )
  const page = await journey.visit({ as: olga, before: refuseNews })
  await readOn(page, 60)
  const post = (text: string) =>
    page.getByRole('article').filter({ has: page.getByText(text, { exact: true }) })
  const last = post('Запись 10')
  await bringTo(last, 300)
  const reads = countRequests(page, 'GET', /\/posts\?/)
  await changeUserInOtherTab(journey, page, { former: olga, next: petr })
  await expect.poll(() => like(last).getAttribute('aria-pressed')).toBe('true')
  expect(await isAt(last, 300)).toBe(true)
  expect(reads()).toBeLessThanOrEqual(2)
  const newest = post('Запись 60')
  await bringTo(newest, 100)
  await expect.poll(() => like(newest).getAttribute('aria-pressed')).toBe('true')
})

test('a page that the browser restores is the next user’s', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Запись Ольги')
  const page = await journey.visit({ as: olga, path: '/own/posts' })
  await postWith(page, 'Запись Ольги').waitFor()
  const other = await signInElsewhere(journey, page, { former: olga, next: petr })
  await profileLink(other).waitFor()
  await restoreFromCache(page)
  await page.getByRole('link', { name: `Профиль ${petr.username}` }).waitFor()
  await postWith(page, 'Запись Ольги').waitFor({ state: 'detached' })
})

test('a sign-in in another tab ends the dialog and its intent', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Ещё не отмечено')
  const page = await journey.visit({ before: refuseNews })
  const heart = like(postWith(page, 'Ещё не отмечено'))
  await tap(heart)
  const { dialog, email } = signInDialog(page)
  await email.waitFor()
  const other = await page.context().newPage()
  await other.goto(journey.url)
  await tap(signInButton(other))
  await signInThrough(journey, other, petr.email)
  await dialog.waitFor({ state: 'detached' })
  await page.reload({ waitUntil: 'networkidle' })
  await page.getByRole('link', { name: `Профиль ${petr.username}` }).waitFor()
  expect(await dialog.count()).toBe(0)
  expect(await journey.rows('SELECT FROM likes')).toEqual([])
})
