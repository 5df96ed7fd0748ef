import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/http/client.ts'
import { expectNoBarrier } from './testing/axe.ts'
import { tap, write } from './testing/hands.ts'
import { type Journey, test } from './testing/journey.ts'
import { chooseFromMenu, postTexts, postWith } from './testing/page/feed.ts'
import { recordFrames } from './testing/page/layout.ts'
import { toast } from './testing/page/overlays.ts'
import { openTab, restoreFromCache } from './testing/page/tab.ts'
import { profileLink } from './testing/sign-in-actions.ts'

/** Hides Petr from Olga by a call, as another browser would. */
const mutePetr = (journey: Journey, olga: TestUser, petr: TestUser) =>
  journey.call('PUT', `/users/${petr.id}/mute`, olga)

/** Opens a page as Olga, and waits until it knows whom she has muted. */
async function visit(journey: Journey, olga: TestUser, path = '/'): Promise<Page> {
  const page = await journey.visit({ as: olga, path })
  await profileLink(page).waitFor()
  return page
}

async function hideWord(page: Page, word: string): Promise<void> {
  await write(page.getByRole('textbox', { name: 'Слово' }), word)
  await page.keyboard.press('Enter')
}

test('a hidden author is in no list until shown again', async ({ journey, olga, petr }) => {
  const vera = await journey.signUp()
  const body = { username: 'W'.repeat(32) }
  await journey.call('PATCH', '/users/current/profile', { token: petr.token, body })
  const ivan = { ...petr, ...body }
  const post = await journey.publish(olga, 'Моя')
  await journey.publish(ivan, 'Запись Ивана')
  await journey.reply(ivan, post.id, 'Ответ Ивана')
  await journey.publish(vera, 'Запись Веры')
  await journey.reply(vera, post.id, 'Ответ Веры')
  const page = await visit(journey, olga)
  await chooseFromMenu(postWith(page, 'Запись Ивана'), 'Скрыть автора')
  await expect.poll(() => postTexts(page)).toEqual(['Запись Веры', 'Моя'])
  await toast(page, `Вы скрыли автора ${ivan.username}`).waitFor()
  await tap(page.getByRole('status').getByRole('button', { name: 'Вернуть' }))
  await expect.poll(() => postTexts(page)).toEqual(['Запись Веры', 'Запись Ивана', 'Моя'])

  await page.goto(`${journey.url}/users/${ivan.username}`)
  const main = page.getByRole('main')
  await profileLink(page).waitFor()
  const more = main.getByRole('button', { name: `Ещё: ${ivan.username}` }).first()
  const hide = async () => {
    await tap(more)
    await tap(page.getByRole('menuitem', { name: 'Скрыть автора' }))
    await main.getByText('Вы скрыли этого автора').waitFor()
  }
  await hide()
  expect(await postTexts(page)).toEqual([])
  await tap(main.getByRole('button', { name: 'Вернуть' }))
  await expect.poll(() => postTexts(page)).toEqual(['Запись Ивана'])
  await hide()
  await tap(page.getByRole('link', { name: 'Ответы мне, новых: 1' }))
  await expect.poll(() => postTexts(page)).toEqual(['Ответ Веры'])
  await page.goto(`${journey.url}/posts/${post.id}`)
  await expect.poll(() => postTexts(page)).toEqual(['Моя', 'Ответ Веры'])
  await page.getByText('Ответы скрытых вами авторов: 1').waitFor()
  expect(await page.getByRole('link', { name: 'Кого вы скрыли' }).getAttribute('href')).toBe(
    '/settings/hidden',
  )

  const found = page.waitForResponse('**/posts/search?*')
  await page.goto(`${journey.url}/search?q=${encodeURIComponent('запись')}`)
  await found
  await expect.poll(() => postTexts(page)).toEqual(['Запись Веры'])
  await tap(profileLink(page))
  await tap(page.getByRole('link', { name: /^Скрытое/ }))
  const button = page.getByRole('button', { name: `Вернуть автора ${ivan.username}` })
  await tap(button)
  await button.waitFor({ state: 'detached' })
  await page.goBack()
  await page.goBack()
  await expect.poll(() => postTexts(page)).toEqual(['Запись Веры', 'Запись Ивана'])
  await page.goto(journey.url)
  await expect.poll(() => postTexts(page)).toEqual(['Запись Веры', 'Запись Ивана', 'Моя'])
})

test('an author is hidden for a week, and the settings say until when', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.publish(petr, 'Запись Петра')
  const page = await visit(journey, olga)
  await chooseFromMenu(postWith(page, 'Запись Петра'), 'Скрыть на неделю')
  await toast(page, `Вы скрыли автора ${petr.username} на неделю`).waitFor()
  await expect.poll(() => postTexts(page)).toEqual([])
  await page.goto(`${journey.url}/settings/hidden`)
  await page.getByText(/^До \d+ [а-я]+( \d+ г\.)? в \d+:\d\d$/).waitFor()
  await journey.rows(`UPDATE mutes SET until = until - interval '7 days'`)
  await page.goto(journey.url)
  await expect.poll(() => postTexts(page)).toEqual(['Запись Петра'])
})

test('hidden posts do not flash, others load instead', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Давняя')
  await journey.fillWall(petr, 25, 'Не хочу видеть')
  await mutePetr(journey, olga, petr)
  const page = await visit(journey, olga)
  await expect.poll(() => postTexts(page)).toEqual(['Давняя'])
  await page.getByText('Это все записи').waitFor()
  await journey.publish(olga, 'Моя')
  const cards = await recordFrames(page, () => {
    const isShown = (it: Element) => getComputedStyle(it).visibility === 'visible'
    return [...document.querySelectorAll('article')].map((it) => isShown(it) && it.innerText).join()
  })
  const seen = async () => (await cards()).join()
  // While a slow machine makes a page, it sends the one before it.
  const served = () => page.evaluate(() => fetch('/').then((it) => it.text()))
  await expect.poll(served).toContain('Моя')
  await page.reload()
  await expect.poll(seen).toContain('Моя')
  await profileLink(page).waitFor()
  expect((await postTexts(page))[0]).toBe('Моя')
  expect(await seen()).not.toContain('Не хочу видеть')
})

test('only news of shown authors shows the buttons', async ({ journey, olga, petr }) => {
  const vera = await journey.signUp()
  const elsewhere = await journey.publish(olga, 'Другая')
  const post = await journey.publish(olga, 'Моя')
  await mutePetr(journey, olga, petr)
  const visitByClock = (path: string) =>
    journey.visitWithNews({ as: olga, path, before: (page) => page.clock.install() })
  const wall = await visitByClock('/')
  const thread = await visitByClock(`/posts/${post.id}`)
  const newPosts = wall.getByRole('button', { name: 'Показать новые записи' })
  const newReplies = thread.getByRole('button', { name: 'Показать новые ответы' })
  await journey.reply(petr, post.id, 'Скрытый ответ')
  await journey.publish(petr, 'Скрытая')
  // This comes in the same stream, at the same time or later.
  await journey.reply(vera, elsewhere.id, 'Ответ на другую')
  for (const page of [wall, thread]) {
    await page.getByRole('link', { name: 'Ответы мне, новых: 1' }).waitFor()
    // A button shows a moment after its news.
    await page.clock.fastForward(1000)
  }
  expect([await newPosts.count(), await newReplies.count()]).toEqual([0, 0])
  await journey.publish(vera, 'Чужая')
  await journey.reply(vera, post.id, 'Чужой ответ')
  await Promise.all([newPosts.waitFor(), newReplies.waitFor()])
})

test('a quote of a hidden author leads to the post', async ({ journey, olga, petr }) => {
  const vera = await journey.signUp()
  const post = await journey.publish(petr, 'Скрытая запись')
  const reply = await journey.reply(vera, post.id, 'Ответ на скрытую')
  await journey.reply(petr, reply.id, 'Ответ скрытого')
  await journey.call('POST', `/posts/${reply.id}/likes`, olga)
  await mutePetr(journey, olga, petr)
  const page = await visit(journey, olga, '/liked')
  await postWith(page, 'Ответ на скрытую').getByText('Запись скрытого вами автора').waitFor()
  expect(await page.getByText('Скрытая запись').count()).toBe(0)
  await page.goto(`${journey.url}/posts/${reply.id}`)
  await page.getByText('Ответы скрытых вами авторов: 1').waitFor()
  await tap(page.getByRole('link', { name: 'Запись скрытого вами автора' }))
  await page.waitForURL(`**/posts/${post.id}`)
  await postWith(page, 'Скрытая запись').waitFor()
  await chooseFromMenu(postWith(page, 'Скрытая запись'), 'Вернуть автора')
  await toast(page, `Автор ${petr.username} снова виден`).waitFor()
})

test('what any tab hides stays hidden in all tabs', async ({ journey, olga, petr }) => {
  const vera = await journey.signUp()
  await journey.publish(vera, 'Запись Веры')
  await journey.publish(petr, 'Ёлки и игрушки')
  const page = await visit(journey, olga, '/settings/hidden')
  await hideWord(page, 'санки')
  await page.goto(`${journey.url}/settings`)
  const other = await openTab(page, '/settings/hidden')
  await hideWord(other, 'елк')
  const word = other.getByRole('button', { name: 'Убрать слово «елк»' })
  await word.waitFor()
  await tap(page.getByRole('link', { name: 'Стена' }))
  const folded = 'Скрыто по слову «елк» · Показать'
  await expect.poll(() => postTexts(page)).toEqual([folded, 'Запись Веры'])
  await chooseFromMenu(postWith(page, 'Запись Веры'), 'Скрыть автора')
  await expect.poll(() => postTexts(page)).toEqual([folded])
  await other.reload()
  await word.waitFor()
  await page.evaluate(() => {
    localStorage.hidden = localStorage.hidden.replace('"елк",', '')
  })
  await restoreFromCache(page)
  await expect.poll(() => postTexts(page)).toEqual(['Ёлки и игрушки'])
})

test('a post with a hidden word shows a line', async ({ journey, olga, petr: vera }) => {
  await journey.publish(vera, 'Ёлки и игрушки')
  const voted = await journey.publish(vera, 'Новые выборы')
  await journey.reply(olga, voted.id, 'Мой ответ про выборы')
  await journey.publish(olga, 'Мои выборы')
  const page = await visit(journey, olga, '/settings/hidden')
  await hideWord(page, 'в')
  await page.getByText('От 2 до 50 знаков').waitFor()
  await hideWord(page, 'елк')
  await toast(page, 'Слово «елк» добавлено').waitFor()
  await hideWord(page, 'ВЫБОР')
  await hideWord(page, 'Выбор')
  await page.getByText('Это слово уже есть').waitFor()
  await expectNoBarrier(page, 'the hidden words')
  await page.goto(journey.url)
  const [first, second] = ['ВЫБОР', 'елк'].map((word) => `Скрыто по слову «${word}» · Показать`)
  await expect.poll(() => postTexts(page)).toEqual(['Мои выборы', first, second])
  await tap(postWith(page, 'елк').getByRole('button', { name: 'Показать' }))
  await expect.poll(() => postTexts(page)).toEqual(['Мои выборы', first, 'Ёлки и игрушки'])
  await page.goto(`${journey.url}/own/replies`)
  await postWith(page, 'Мой ответ').getByText('Скрыто по слову «ВЫБОР»').waitFor()

  await page.goto(`${journey.url}/settings/hidden`)
  await tap(page.getByRole('button', { name: 'Убрать слово «ВЫБОР»' }))
  await page.goto(journey.url)
  await expect.poll(() => postTexts(page)).toEqual(['Мои выборы', 'Новые выборы', second])
  await page.goto(`${journey.url}/settings`)
  await tap(page.getByRole('button', { name: 'Выйти' }))
  await page.getByRole('alert').getByText('1 скрытое слово пропадёт.').waitFor()
  await tap(page.getByRole('button', { name: 'Выйти всё равно' }))
  await expect.poll(() => postTexts(page)).toEqual(['Мои выборы', 'Новые выборы', 'Ёлки и игрушки'])
})
