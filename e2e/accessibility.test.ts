import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { PATHS } from '../contract/pages.ts'
import type { Post } from '../contract/posts.ts'
import { expectNoBarrier } from './testing/axe.ts'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, type Journey, PHONE, test, type Visit } from './testing/journey.ts'
import { reportByApi, signUpModerator } from './testing/moderation-actions.ts'
import { chooseFromMenu, openMenu, postWith } from './testing/page/feed.ts'
import { REFUSED } from './testing/page/network.ts'
import { closeByKey } from './testing/page/overlays.ts'
import { profileLink, signInButton, signInDialog } from './testing/sign-in-actions.ts'

let own: Post
let answer: Post
test.beforeEach(async ({ journey, olga, petr }) => {
  await journey.signIn(olga.email)
  const root = await journey.publish(petr, 'Чужая запись со ссылкой https://example.org/')
  own = await journey.publish(olga, 'Моя запись')
  answer = await journey.reply(olga, root.id, 'Мой ответ')
  await journey.reply(petr, answer.id, 'Ответ на ответ')
  for (const post of [root, own]) {
    await journey.call('POST', `/posts/${post.id}/likes`, { token: olga.token })
  }
})

test('no list of posts and no reply field has a barrier', async ({ journey, olga, petr }) => {
  const page = await visitAtRest(journey, { as: olga, viewport: DESKTOP })
  await expectNoBarrierAt(page, {
    [`/users/${petr.username}/replies`]: 'Ответ на ответ',
    [`/search?q=${encodeURIComponent('ответы')}`]: 'Мой',
    [`/posts/${answer.id}`]: 'Ответ на ответ',
  })
  await page.setViewportSize(PHONE)
  await write(page.getByRole('textbox', { name: 'Ваш ответ' }), 'я'.repeat(501))
  await expectNoBarrier(page, 'the field')
  await expectNoBarrierAt(page, { '/': 'Моя запись' })
})

/** The pages without a parameter in their path; of those with a text of the site one. */
const FIXED = Object.values(PATHS).filter(
  (path) => !/:|^.(?:about|privacy|consent|contacts)$/.test(path),
)

test('no page of a fixed path and no device has a barrier', async ({ journey, olga }) => {
  const page = await visitAtRest(journey, { as: olga, viewport: DESKTOP })
  await expectNoBarrierAt(page, {
    ...Object.fromEntries(FIXED.map((path) => [path, ''])),
    ...{ '/': 'Моя запись', '/replies': 'Ответ на ответ' },
    '/posts/999999': 'Запись не найдена',
    [`/email-undo#${'0'.repeat(32)}.${'0'.repeat(64)}`]: 'Вернуть прежнюю почту?',
  })
  await page.goto(new URL(PATHS.devices, page.url()).href)
  await tap(page.getByRole('listitem').getByRole('button').first())
  await expectNoBarrierIn(page, /Firefox|сесси/i)
})

test('no dialog, menu or list has a barrier', async ({ journey, olga }) => {
  const page = await visitAtRest(journey, { as: olga })
  const mine = postWith(page, 'Моя запись')
  await mine.waitFor()

  await tap(page.getByRole('button', { name: 'Новые' }))
  await page.getByRole('option').first().waitFor()
  await expectNoBarrier(page, 'the switcher')
  await page.keyboard.press('Escape')
  await openMenu(mine)
  await expectNoBarrier(page, 'a menu')
  await closeByKey(page.getByRole('menu'))

  await tap(page.getByRole('button', { name: 'Новая запись' }))
  await write(page.getByRole('textbox'), 'я'.repeat(501))
  await expectNoBarrierIn(page, 'Новая запись')
  await chooseFromMenu(mine, 'Удалить')
  await expectNoBarrierIn(page, 'Удалить запись?')
  await chooseFromMenu(postWith(page, 'Чужая запись'), 'Пожаловаться')
  await page.getByRole('radio').last().check()
  await expectNoBarrierIn(page, 'Пожаловаться')
  await page.keyboard.press('Shift+Slash')
  await expectNoBarrierIn(page, 'Сочетания клавиш')
})

test('no screen of moderation has a barrier', async ({ journey, olga, petr }) => {
  const vera = await signUpModerator(journey)
  const bad = await journey.reply(petr, own.id, 'Плохой ответ')
  await journey.reply(olga, bad.id, 'Зачем так?')
  const removed = await journey.publish(petr, 'Удалённая запись')
  for (const post of [bad, removed]) await reportByApi(journey, olga, post)
  await journey.call('POST', `/moderation/posts/${removed.id}/decision`, {
    token: vera.token,
    body: { verdict: 'remove' },
  })

  const page = await visitAtRest(journey, { as: vera, path: '/moderation' })
  const card = postWith(page, 'Плохой ответ')
  await card.waitFor()
  await expectNoBarrier(page, 'the queue')
  await tap(card.getByRole('button', { name: /Заблокировать/ }))
  await expectNoBarrierIn(page, 'Заблокировать автора')
  await tap(card.getByRole('button', { name: 'Оставить' }))
  // A toast stays while the pointer is on it.
  await page.getByText('Запись оставлена').hover()
  await page.getByText('Жалоб нет').waitFor()
  await expectNoBarrier(page, 'an empty queue with a toast')
  expect(await page.getByRole('status').getByRole('button', { name: 'Отменить' }).count()).toBe(1)

  await tap(page.getByRole('link', { name: 'Стена' }))
  await chooseFromMenu(postWith(page, 'Моя запись'), 'Удалить как модератор…')
  await page.getByRole('dialog').getByRole('radio').first().waitFor()
  await expectNoBarrierIn(page, 'Удалить как модератор')

  const author = await visitAtRest(journey, { as: petr, path: '/own/posts' })
  await author.getByText('Удалено модератором').waitFor()
  await expectNoBarrier(author, 'a removed post')
  await tap(author.getByRole('button', { name: 'Обжаловать' }))
  await expectNoBarrierIn(author, 'Обжалование')

  const reporter = await visitAtRest(journey, { as: olga, path: '/settings/reports' })
  await reporter.getByText('Плохой ответ').waitFor()
  await expectNoBarrier(reporter, 'the own reports')
})

test('no step of signing in has a barrier', async ({ journey }) => {
  const page = await visitAtRest(journey, { path: `/posts/${answer.id}` })
  const { email, goBack, proceed, code } = signInDialog(page)
  await expectNoBarrier(page, 'the place of the reply field')
  await tap(signInButton(page))
  await write(email, 'unknown@example.org')
  await expectNoBarrier(page, 'the e-mail step')
  await page.keyboard.press('Enter')
  await goBack.waitFor()
  await expectNoBarrier(page, 'the offer to register')
  await tap(proceed)
  await code.waitFor()
  await expectNoBarrier(page, 'the code step')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Мы отправили код на/ }).waitFor()
  await expectNoBarrier(page, 'the line on a code')
})

test('no wall that is empty, failed or offline has a barrier', async ({ journey, olga }) => {
  await journey.emptyWall()
  const visitor = await visitAtRest(journey)
  await visitor.getByRole('button', { name: 'Написать первую запись' }).waitFor()
  await expectNoBarrier(visitor, 'an empty wall')

  const page = await visitAtRest(journey, {
    as: olga,
    path: '/liked',
    before: (it) => it.route('**/api/v1/posts?*', (route) => route.fulfill(REFUSED)),
  })
  await page.getByRole('button', { name: 'Повторить' }).waitFor()
  await page.context().setOffline(true)
  await page.getByText(/^Нет связи/).waitFor()
  await expectNoBarrier(page, 'a wall that failed, without a network')
})

test('a dialog slides in, unless reduced motion is set', async ({ journey }) => {
  const page = await journey.visit()
  const motionOfDialog = async (reducedMotion: 'no-preference' | 'reduce') => {
    await page.emulateMedia({ reducedMotion })
    const motion = page.evaluate(nextMotion)
    await tap(signInButton(page))
    const seconds = await motion
    await closeByKey(page.getByRole('dialog'))
    return seconds
  }
  expect(await motionOfDialog('no-preference')).toBeGreaterThan(0.1)
  expect(await motionOfDialog('reduce')).toBeLessThan(0.001)
})

/** Resolves with the duration (s) of the next transition of a dialog that ends. */
function nextMotion(): Promise<number> {
  return new Promise((resolve) => {
    addEventListener('transitionend', ({ target, elapsedTime }) => {
      if ((target as Element).matches('dialog')) resolve(elapsedTime)
    })
  })
}

/** Opens a page without animations, because elements that fade in lack contrast. */
function visitAtRest(journey: Journey, visit: Visit = {}): Promise<Page> {
  return journey.visit({ reducedMotion: 'reduce', ...visit })
}

/** Opens pages of a user by their paths, and checks each when its text is there; '' for any text. */
async function expectNoBarrierAt(page: Page, screens: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(screens)) {
    await page.goto(new URL(path, page.url()).href)
    const title = page.getByRole('heading', { level: 1 })
    await (text === '' ? title : page.getByText(text)).first().waitFor()
    // A page that the server has rendered shows its text before the controls of its user.
    await profileLink(page).waitFor()
    const loading = page.getByRole('status', { name: /^Загружаем/ })
    await loading.first().waitFor({ state: 'detached' })
    expect(await title.count()).toBe(1)
    await expectNoBarrier(page, path)
  }
}

async function expectNoBarrierIn(page: Page, title: string | RegExp): Promise<void> {
  const dialog = page.getByRole('dialog', { name: title })
  await dialog.waitFor()
  await expectNoBarrier(page, String(title))
  await closeByKey(dialog)
}
