import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/http/client.ts'
import { DELAY_MS } from '../web/http/delayed-write.ts'
import { clear, tap, typeOn, write } from './testing/hands.ts'
import { type Journey, desktopTest as test } from './testing/journey.ts'
import { reportByApi, signUpModerator, untilListedOnce } from './testing/moderation-actions.ts'
import { startPost, storedTexts, submitPost, textField } from './testing/page/compose.ts'
import { chooseFromMenu, openThread, postWith } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { goOffline, goOnline, untilPreloaded } from './testing/page/network.ts'
import { closeByKey, toast, untilStill } from './testing/page/overlays.ts'
import { openTab } from './testing/page/tab.ts'
import {
  endSessions,
  profileLink,
  signInButton,
  signInDialog,
  signInThrough,
} from './testing/sign-in-actions.ts'

const CLOSED = 'Сессия завершена с другого устройства'
const TEXT = 'dopisat_utrom'

type Opened = { field: Locator; around: Locator }

/** Opens each kind of text. */
const OPEN: Record<string, (page: Page, journey: Journey) => Promise<Opened>> = {
  'a new post': async (page) => {
    const dialog = await startPost(page)
    return { field: textField(dialog), around: dialog }
  },
  'a reply': async (page) => {
    await tap(postWith(page, 'Запись Петра').getByRole('button', { name: 'Ответить' }))
    return inDialog(page, 'Ответ', 'Текст ответа')
  },
  'the reply field of a thread': async (page) => {
    await openThread(page, 'Запись Петра')
    return { field: page.getByLabel('Ваш ответ'), around: page.locator('main') }
  },
  'an edit': async (page) => {
    await chooseFromMenu(postWith(page, 'Своя запись'), 'Изменить')
    return inDialog(page, 'Изменение записи', 'Текст записи')
  },
  'the comment of a report': async (page) => {
    await chooseFromMenu(postWith(page, 'Запись Петра'), 'Пожаловаться')
    const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
    await dialog.getByRole('radio', { name: 'Другое нарушение' }).check()
    return inDialog(page, 'Пожаловаться', 'Что нарушено?')
  },
  'an appeal': async (page, journey) => {
    const [{ id }] = await journey.rows("SELECT id FROM posts WHERE text = 'Своя запись'")
    await journey.removePosts('id', id)
    await page.goto(`${journey.url}/own/posts`)
    await tap(page.getByRole('button', { name: /^Обжаловать/ }))
    return inDialog(page, 'Обжалование', 'Текст обжалования')
  },
  "the reason of a moderator's block": async (page) => {
    await tap(page.getByRole('link', { name: /^Модерация/ }))
    await tap(postWith(page, 'Запись Петра').getByRole('button', { name: /Заблокировать/ }))
    return inDialog(page, 'Заблокировать автора', 'Причина')
  },
  'a new name': (page) => inSettings(page, '/settings/account/username', 'Имя пользователя'),
}

function inDialog(page: Page, name: string, label: string): Opened {
  const dialog = page.getByRole('dialog', { name, exact: true })
  return { field: dialog.getByRole('textbox', { name: label }), around: dialog }
}

async function inSettings(page: Page, path: string, label: string): Promise<Opened> {
  await page.goto(new URL(path, page.url()).href)
  return { field: page.getByLabel(label, { exact: true }), around: page.locator('main') }
}

/** Where the rest of the page also depends on who is signed in. */
const OF_EXPIRED = new Set(['the reply field of a thread', 'the comment of a report', 'a new name'])
const KINDS = Object.entries(OPEN)

test.for([
  ...KINDS.map(([what, open]) => ({
    what,
    open,
    how: 'closed elsewhere',
    end: closeFromElsewhere,
  })),
  ...KINDS.filter(([what]) => OF_EXPIRED.has(what)).map(([what, open]) => ({
    what,
    open,
    how: 'expired',
    end: endSessions,
  })),
])(
  '$what stays on the screen of a session that was $how, and returns to its author',
  async ({ open, how, end }, { journey, petr }) => {
    const author = await signUpModerator(journey)
    await reportByApi(journey, author, await journey.publish(petr, 'Запись Петра'))
    await journey.publish(author, 'Своя запись')
    const asked = await journey.publish(author, 'Вопрос')
    const page = await journey.visit({ as: author })
    await profileLink(page).waitFor()
    const { field, around } = await open(page, journey)
    await write(field, TEXT.slice(0, -1))
    await end(journey, author)
    // The page reads the new replies or, in the settings, checks the name, and is refused.
    await journey.reply(petr, asked.id, 'Ответ')
    await typeOn(field, TEXT.slice(-1))

    await around
      .getByRole('alert')
      .getByText(how === 'expired' ? /Войдите/ : CLOSED)
      .waitFor()
    expect(await field.inputValue()).toBe(TEXT)
    await tap(around.getByRole('button', { name: 'Скопировать' }))
    await around.getByText('Текст скопирован').waitFor()
    await tap(around.getByRole('button', { name: 'Войти' }))
    await signInThrough(journey, page, author.email)
    await expect.poll(() => field.inputValue()).toBe(TEXT)
  },
)

async function closeFromElsewhere(journey: Journey, { email }: TestUser): Promise<void> {
  const { token } = await journey.signIn(email)
  await journey.call('DELETE', '/sessions', { token })
}

test('a word or an address that is typed in the settings stays when another tab learns of the end', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/email' })
  const hidden = await openTab(page, '/settings/hidden')
  const [address, word] = [page.getByLabel('Электронная почта'), hidden.getByLabel('Слово')]
  await write(address, 'nina@exa')
  await write(word, TEXT)
  await closeFromElsewhere(journey, olga)
  await (await page.context().newPage()).goto(journey.url)
  for (const tab of [page, hidden]) await tab.getByRole('alert').getByText(CLOSED).waitFor()
  expect([await address.inputValue(), await word.inputValue()]).toEqual(['nina@exa', TEXT])
  await hidden.bringToFront()
  await tap(hidden.locator('main').getByRole('button', { name: 'Войти' }))
  await signInThrough(journey, hidden, olga.email)
  await expect.poll(() => word.inputValue()).toBe(TEXT)
})

test('a new address that a closed session could not send is in the field after signing in again', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/email' })
  const address = page.getByLabel('Электронная почта')
  await write(address, 'nina@example.org')
  await closeFromElsewhere(journey, olga)
  const main = page.locator('main')
  await main.getByRole('button', { name: 'Продолжить' }).click()
  await main.getByText(CLOSED).first().waitFor()
  await main.getByRole('button', { name: 'Скопировать' }).click()
  await main.getByText('Текст скопирован').waitFor()
  await main.getByRole('button', { name: 'Войти' }).click()
  await signInThrough(journey, page, olga.email)
  await expect.poll(() => address.inputValue()).toBe('nina@example.org')
})

test('a report that a closed session could not send is sent after signing in, and stands once in the reporter’s list and in the queue', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.publish(petr, 'Запись Петра')
  const page = await journey.visit({ as: olga })
  await profileLink(page).waitFor()
  await chooseFromMenu(postWith(page, 'Запись Петра'), 'Пожаловаться')
  const dialog = page.getByRole('dialog', { name: 'Пожаловаться' })
  await dialog.getByRole('radio').first().check()
  await closeFromElsewhere(journey, olga)
  await tap(dialog.getByRole('button', { name: 'Отправить' }))
  await dialog.getByRole('alert').getByText(CLOSED).waitFor()
  await tap(dialog.getByRole('button', { name: 'Войти' }))
  await signInThrough(journey, page, olga.email)
  await dialog.getByRole('radio', { checked: true }).waitFor()
  await tap(dialog.getByRole('button', { name: 'Отправить' }))
  await toast(page, 'Жалоба отправлена').waitFor()
  await untilListedOnce(journey, page)
})

/** Opens what a moderator decides in, and what stands in it after signing in again. */
const DECISIONS = {
  'a block in the queue': {
    async decide(page: Page) {
      await tap(page.getByRole('link', { name: /^Модерация/ }))
      const card = postWith(page, 'Запись Петра')
      await tap(card.getByRole('button', { name: /Заблокировать/ }))
      const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
      await dialog.getByRole('radio', { name: 'На месяц' }).check()
      const reason = dialog.getByRole('textbox', { name: 'Причина' })
      await clear(reason)
      await write(reason, TEXT)
      await dialog.getByRole('checkbox', { name: 'Удалить и эту запись' }).uncheck()
      return dialog.getByRole('button', { name: 'Заблокировать' })
    },
    failure: `Автор не заблокирован. ${CLOSED}`,
    async isBack(page: Page) {
      const dialog = page.getByRole('dialog', { name: 'Заблокировать автора' })
      await dialog.getByRole('radio', { name: 'На месяц', checked: true }).waitFor()
      expect(await dialog.getByRole('textbox', { name: 'Причина' }).inputValue()).toBe(TEXT)
      const box = dialog.getByRole('checkbox', { name: 'Удалить и эту запись' })
      expect(await box.isChecked()).toBe(false)
    },
  },
  'a removal on the wall': {
    async decide(page: Page) {
      await chooseFromMenu(postWith(page, 'Запись Петра'), 'Удалить как модератор')
      const dialog = page.getByRole('dialog', { name: 'Удалить как модератор' })
      await dialog.getByRole('radio', { name: 'Другое нарушение' }).check()
      return dialog.getByRole('button', { name: 'Удалить' })
    },
    failure: `Решение не отправлено. ${CLOSED}`,
    async isBack(page: Page) {
      const dialog = page.getByRole('dialog', { name: 'Удалить как модератор' })
      await dialog.getByRole('radio', { name: 'Другое нарушение', checked: true }).waitFor()
    },
  },
  'a decision in the queue': {
    async decide(page: Page) {
      await tap(page.getByRole('link', { name: /^Модерация/ }))
      return postWith(page, 'Запись Петра').getByRole('button', { name: /^Удалить/ })
    },
    failure: `Решение не отправлено. ${CLOSED}`,
    async isBack(page: Page) {
      await page.waitForURL('**/moderation')
      await postWith(page, 'Запись Петра').waitFor()
    },
  },
}

test.for(Object.entries(DECISIONS))(
  '%s that a closed session could not send is open again after signing in',
  async ([, { decide, failure, isBack }], { journey, petr }) => {
    const moderator = await signUpModerator(journey)
    await reportByApi(journey, moderator, await journey.publish(petr, 'Запись Петра'))
    const page = await journey.visit({ as: moderator })
    await page.clock.install()
    await profileLink(page).waitFor()
    const confirm = await decide(page)
    await tap(confirm)
    await closeFromElsewhere(journey, moderator)
    await page.clock.fastForward(DELAY_MS)
    await toast(page, failure).waitFor()
    await tap(signInButton(page))
    await signInThrough(journey, page, moderator.email)
    await isBack(page)
  },
)

test('a double click on «Войти» beside a text leaves the focus in the address', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/email' })
  const main = page.locator('main')
  await write(page.getByLabel('Электронная почта'), 'nina@example.org')
  await closeFromElsewhere(journey, olga)
  await main.getByRole('button', { name: 'Продолжить' }).click()
  const { left, top } = await boxOf(main.getByRole('button', { name: 'Войти' }))
  await page.mouse.move(left + 5, top + 5)
  await page.mouse.down({ clickCount: 1 })
  await page.mouse.up({ clickCount: 1 })
  const dialog = page.getByRole('dialog', { name: 'Вход' })
  await untilStill(dialog)
  const box = await boxOf(dialog)
  // The second press is on the dialog, which the first has opened.
  expect([left > box.left, left < box.right, top > box.top, top < box.bottom]).not.toContain(false)
  await page.mouse.down({ clickCount: 2 })
  await page.mouse.up({ clickCount: 2 })
  await page.keyboard.type('nina')
  expect(await signInDialog(page).email.inputValue()).toBe('nina')
})

test('an open text is gone for another person', async ({ journey, olga, petr }) => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  await write(textField(dialog), TEXT)
  await closeFromElsewhere(journey, olga)
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('alert').getByText(CLOSED).waitFor()
  await tap(dialog.getByRole('button', { name: 'Войти' }))
  const signIn = signInDialog(page)
  await signIn.email.waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => textField(dialog).inputValue()).toBe(TEXT)
  await tap(dialog.getByRole('button', { name: 'Войти' }))
  await signIn.email.waitFor()
  await page.goBack()
  await expect.poll(() => textField(dialog).inputValue()).toBe(TEXT)
  await tap(dialog.getByRole('button', { name: 'Войти' }))
  await signInThrough(journey, page, petr.email)
  await profileLink(page).waitFor()
  // The dialog opens, and is Petr's.
  await expect.poll(() => textField(dialog).inputValue()).toBe('')
  const stored = () => page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  expect(await stored()).not.toContain(TEXT)
})

test('a text in another tab of a closed session stays, and is a draft once its author signs in', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  const other = await openTab(page)
  const dialog = await startPost(other)
  await write(textField(dialog), TEXT)
  await page.bringToFront()
  await closeFromElsewhere(journey, olga)
  const pressed = await submitPost(page, 'Нажато здесь')
  await pressed.getByRole('alert').getByText(CLOSED).waitFor()
  await closeByKey(pressed)
  await dialog.getByRole('alert').getByText(CLOSED).waitFor()
  expect(await storedTexts(other)).toEqual([])
  await tap(signInButton(page))
  await signInThrough(journey, page, olga.email)
  await profileLink(other).waitFor({ state: 'attached' })
  await dialog.getByRole('alert').getByText(CLOSED).waitFor({ state: 'detached' })
  expect(await textField(dialog).inputValue()).toBe(TEXT)
  expect(await storedTexts(other)).toEqual([TEXT])
})

test('a text that was told to wait is sent when its author signs in again', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga })
  await untilPreloaded(page)
  await goOffline(page)
  const dialog = await submitPost(page, 'Написано в метро')
  await dialog.getByText('Нет связи. Отправим, когда она вернётся').waitFor()
  await closeFromElsewhere(journey, olga)
  await goOnline(page)
  await dialog.getByText(`${CLOSED}. Отправим, когда вы войдёте`).waitFor()
  await closeByKey(dialog)
  await page.getByText('1 запись уйдёт, когда вы войдёте.').waitFor()
  await page.reload()
  await tap(signInButton(page))
  await signInThrough(journey, page, olga.email)
  await postWith(page, 'Написано в метро').waitFor()
})
