import type { Page } from 'playwright-core'
import { write } from '../../e2e/testing/hands.ts'
import { startPost, textField } from '../../e2e/testing/page/compose.ts'
import { chooseFromMenu, openMenu, postWith } from '../../e2e/testing/page/feed.ts'
import { addDevice } from '../../e2e/testing/passkeys.ts'
import { signInButton } from '../../e2e/testing/sign-in-actions.ts'

/** Opens what the picture shows, or only waits for it. */
export type Screen = {
  path: string
  isSignedIn: boolean
  /** Whether it is opened at a name, because an address of numbers has no passkeys. */
  isNamed?: boolean
  /** Makes in another tab, once, what all pictures of the screen show. */
  prepare?: (page: Page) => Promise<unknown>
  show: (page: Page) => Promise<unknown>
}

const LONG_TEXT = `${'Сегодня в поезде все читали. '.repeat(16)}Даже проводник.`

const waitForPost = (text: string) => (page: Page) => postWith(page, text).waitFor()
const waitForText = (text: string) => (page: Page) => page.getByText(text).waitFor()

type Look = [path: string, show: Screen['show']]

/** The screens of visitors, by the names of their pictures. */
const VISITORS: Record<string, Look> = {
  wall: ['/', waitForPost('грядка')],
  thread: ['/', openThread],
  'sign-in': ['/', openSignIn],
  rules: ['/rules', (page) => page.getByRole('heading', { level: 2 }).first().waitFor()],
  'no-page': ['/nowhere', waitForText('Проверьте корректность адреса')],
}

/** The screens of one of the demo's people. */
const SIGNED_IN: Record<string, Look> = {
  'own-wall': ['/', (page) => openMenu(postWith(page, 'кулинарную книгу'))],
  compose: ['/', async (page) => write(textField(await startPost(page)), LONG_TEXT)],
  reply: ['/', openReply],
  report: ['/', openReport],
  'own-replies': ['/own/replies', waitForPost('Марфе')],
  received: ['/replies', (page) => page.getByRole('article').first().waitFor()],
  settings: ['/settings', (page) => page.getByRole('button', { name: 'Выйти' }).waitFor()],
  devices: ['/settings/devices', waitForText('Windows')],
  'own-reports': ['/settings/reports', waitForText('«Библиотека»')],
  queue: ['/moderation', waitForText('Так не было')],
  'block-author': ['/moderation', openBlock],
  'delete-account': ['/settings/account/delete', waitForText('14 дней аккаунт можно вернуть')],
  username: ['/settings/account/username', enterShortName],
}

const screensOf = (looks: Record<string, Look>, isSignedIn: boolean) =>
  Object.entries(looks).map(([name, [path, show]]): [string, Screen] => {
    return [name, { path, isSignedIn, show }]
  })

const PASSKEYS = { path: '/settings/passkeys', isSignedIn: true, isNamed: true }

export const SCREENS: [string, Screen][] = [
  ...screensOf(VISITORS, false),
  ...screensOf(SIGNED_IN, true),
  ['no-passkeys', { ...PASSKEYS, show: waitForText('добавьте ключ') }],
  ['passkeys', { ...PASSKEYS, prepare: addPasskeys, show: waitForText('Мой телефон') }],
]

async function openThread(page: Page): Promise<void> {
  await postWith(page, 'выдал мандарин').getByText('выдал мандарин').click()
  await postWith(page, 'не терять мандарины').waitFor()
}

async function openSignIn(page: Page): Promise<void> {
  await signInButton(page).click()
  await page.getByRole('dialog').getByLabel('Электронная почта').waitFor()
}

async function openReply(page: Page): Promise<void> {
  await postWith(page, '«Библиотека»').getByRole('button', { name: 'Ответить' }).click()
  await page.getByRole('dialog', { name: 'Ответ' }).waitFor()
}

async function openReport(page: Page): Promise<void> {
  await chooseFromMenu(postWith(page, '«Библиотека»'), 'Пожаловаться')
  await page.getByRole('dialog').getByRole('radio').last().check()
}

async function openBlock(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Заблокировать автора' }).click()
  await page.getByRole('dialog', { name: 'Заблокировать автора' }).waitFor()
}

async function addPasskeys(page: Page): Promise<void> {
  const main = page.getByRole('main')
  const keys = main.getByRole('listitem')
  for (const count of [1, 2]) {
    const { cdp, authenticatorId } = await addDevice(page)
    await main.getByRole('button', { name: 'Добавить ключ' }).click()
    await keys.nth(count - 1).waitFor()
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
  }
  await keys.first().getByRole('button').click()
  await write(main.getByLabel('Название ключа'), 'Мой телефон')
  await page.keyboard.press('Enter')
  await keys.first().getByText('Мой телефон').waitFor()
}

async function enterShortName(page: Page): Promise<void> {
  await write(page.getByRole('textbox'), 'нина')
  await page.getByText('не меньше 5').waitFor()
}
