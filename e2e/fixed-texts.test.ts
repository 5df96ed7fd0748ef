import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { DESKTOP, type Journey, test } from './testing/journey.ts'
import {
  chooseFromMenu,
  feedSwitcher,
  holdCalls,
  postWith,
  startPost,
  textField,
} from './testing/page-actions.ts'
import { sendEmail, signInButton, signInDialog } from './testing/sign-in-actions.ts'

/** How a text shows: by its role, as the title of the tab, or as a text of its own. A toast is a status. */
type How = 'heading' | 'button' | 'link' | 'option' | 'dialog' | 'alert' | 'tab' | 'status' | 'text'

type Row = [spec: string, how: How, text: string]

type Wall = { journey: Journey; olga: TestUser; petr: TestUser }

type Screen = {
  screen: string
  open: (fixtures: Wall) => Promise<Page>
  shows: Row[]
}

const EMPTY: Row[] = [
  ['section 2, empty list: first text', 'text', 'Записи не найдены'],
  ['section 2, empty list: second text', 'text', 'Возможно, записи скоро появятся'],
]
const NO_PAGE: Row[] = [
  ['section 2, any other path: first text', 'text', 'Страница не существует'],
  ['section 2, any other path: second text', 'text', 'Проверьте корректность адреса'],
]

/** The fixed texts of the screens, with the place of the specification that fixes them. */
const SCREENS: Screen[] = [
  {
    screen: 'the wall of a visitor',
    open: ({ journey }) => journey.visit(),
    shows: [
      ['section 2, /: title', 'heading', 'Стена'],
      ['section 2, page title format', 'tab', 'Стена - Вслух'],
      ['section 2, feed-view switcher: /', 'button', 'Новые'],
      ['section 2, header when signed out', 'button', 'Войти'],
      ...EMPTY,
    ],
  },
  {
    screen: 'the switcher, beside the view of own replies',
    open: async ({ journey, olga }) => {
      const page = await journey.visit({ as: olga, path: '/own/replies' })
      await feedSwitcher(page).click()
      return page
    },
    shows: [
      ['section 2, feed-view switcher', 'option', 'Новые'],
      ['section 2, feed-view switcher', 'option', 'Понравившиеся'],
      ['section 2, feed-view switcher', 'option', 'Мои записи'],
      ['section 2, feed-view switcher', 'heading', 'Мои ответы'],
    ],
  },
  {
    screen: 'liked posts',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/liked' }),
    shows: [
      ['section 2, liked posts page', 'heading', 'Понравившиеся'],
      ['section 2, page title format', 'tab', 'Понравившиеся - Вслух'],
      ...EMPTY,
    ],
  },
  {
    screen: 'own posts',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/own/posts' }),
    shows: [
      ['section 2, own posts page', 'heading', 'Мои записи'],
      ['section 2, page title format', 'tab', 'Мои записи - Вслух'],
      ...EMPTY,
    ],
  },
  {
    screen: 'own replies',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/own/replies' }),
    shows: [
      ['section 2, own replies page', 'heading', 'Мои ответы'],
      ['section 2, page title format', 'tab', 'Мои ответы - Вслух'],
      ...EMPTY,
    ],
  },
  {
    screen: 'a post without replies',
    open: async ({ journey, petr }) => {
      const { id } = await journey.publish(petr, 'Без ответов')
      return journey.visit({ path: `/posts/${id}` })
    },
    shows: [['section 2, /posts/:id: list of replies', 'heading', 'Ответы'], ...EMPTY],
  },
  {
    screen: 'a missing post',
    open: ({ journey }) => journey.visit({ path: '/posts/999999' }),
    shows: [
      ['section 2, /posts/:id when missing: first text', 'text', 'Запись не найдена'],
      [
        'section 2, /posts/:id when missing: second text',
        'text',
        'Запись не существует или была удалена',
      ],
      ['section 2, page title format', 'tab', 'Запись не найдена - Вслух'],
    ],
  },
  {
    screen: 'any other path, for a visitor',
    open: ({ journey }) => journey.visit({ path: '/nowhere' }),
    shows: NO_PAGE,
  },
  {
    screen: 'any other path, signed in',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/settings/nowhere' }),
    shows: NO_PAGE,
  },
  {
    screen: 'settings',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/settings' }),
    shows: [
      ['section 2, /settings: title', 'heading', 'Настройки'],
      ['section 2, page title format', 'tab', 'Настройки - Вслух'],
      ['section 2, /settings: devices link', 'link', 'Устройства'],
      ['section 2, /settings: log out button', 'button', 'Выйти'],
    ],
  },
  {
    screen: 'the e-mail page',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/settings/account/email' }),
    shows: [
      ['section 2, /settings/account/email: page', 'heading', 'Электронная почта'],
      ['section 2, /settings/account/email: form', 'heading', 'Изменить электронную почту'],
    ],
  },
  {
    screen: 'the username page',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/settings/account/username' }),
    shows: [
      ['section 2, /settings/account/username: page', 'heading', 'Имя пользователя'],
      ['section 2, /settings/account/username: form', 'heading', 'Задать имя пользователя'],
    ],
  },
  {
    screen: 'devices',
    open: ({ journey, olga }) => journey.visit({ as: olga, path: '/settings/devices' }),
    shows: [['section 2, /settings/devices: page', 'heading', 'Устройства']],
  },
  {
    screen: 'the sign-in dialog, where nothing was typed',
    open: async ({ journey }) => {
      const page = await journey.visit()
      await signInButton(page).click()
      await signInDialog(page).email.press('Enter')
      return page
    },
    shows: [
      ['section 2, auth-type screens: app name as a heading', 'heading', 'Вслух'],
      ['section 5, sign-in e-mail: required', 'alert', 'Введите email'],
    ],
  },
  {
    screen: 'the sign-in dialog, with something that is no address',
    open: async ({ journey }) => {
      const page = await journey.visit()
      await signInButton(page).click()
      const { email } = signInDialog(page)
      await email.fill('olga@example')
      await email.press('Enter')
      return page
    },
    shows: [['section 5, sign-in e-mail: pattern', 'alert', 'Введите корректный email']],
  },
  {
    screen: 'the offer to register',
    open: async ({ journey }) => {
      const page = await journey.visit()
      await signInButton(page).click()
      const { email } = signInDialog(page)
      await email.fill('nobody@example.org')
      await email.press('Enter')
      return page
    },
    shows: [
      ['section 4, sign-in: screen of registration', 'button', 'Продолжить'],
      ['section 4, sign-in: reset of the flow', 'button', 'Вернуться'],
    ],
  },
  {
    screen: 'the code step',
    open: async ({ journey, olga }) => {
      const page = await journey.visit()
      await signInButton(page).click()
      await sendEmail(page, olga.email)
      return page
    },
    shows: [['section 4, sign-in: reset of the flow', 'button', 'Вернуться']],
  },
  {
    screen: 'a new post',
    open: async ({ journey, olga }) => {
      const page = await journey.visit({ as: olga })
      await startPost(page)
      return page
    },
    shows: [['section 2, modals: create post', 'dialog', 'Новая запись']],
  },
  {
    screen: 'a published post',
    open: async ({ journey, olga }) => {
      const page = await journey.visit({ as: olga })
      await publishIn(await startPost(page))
      return page
    },
    shows: [
      ['section 4, post: create', 'status', 'Опубликовано'],
      ['section 2, toast: link', 'link', 'Смотреть'],
    ],
  },
  {
    screen: 'a reply',
    open: ({ journey, olga, petr }) => openReply(journey, olga, petr),
    shows: [['section 2, modals: reply', 'dialog', 'Ответ']],
  },
  {
    screen: 'a published reply',
    open: async ({ journey, olga, petr }) => {
      const page = await openReply(journey, olga, petr)
      await publishIn(page.getByRole('dialog'))
      return page
    },
    shows: [
      ['section 4, post: reply', 'status', 'Опубликовано'],
      ['section 2, toast: link', 'link', 'Смотреть'],
    ],
  },
  {
    screen: 'the edit of a post',
    open: ({ journey, olga }) => openOwn(journey, olga, 'Изменить'),
    shows: [['section 2, modals: edit', 'dialog', 'Изменение записи']],
  },
  {
    screen: 'the edit of a reply',
    open: async ({ journey, olga, petr }) => {
      const { id } = await journey.publish(petr, 'Вопрос')
      await journey.reply(olga, id, 'Ответ на него')
      const page = await journey.visit({ as: olga, path: `/posts/${id}` })
      await chooseFromMenu(postWith(page, 'Ответ на него'), 'Изменить')
      return page
    },
    shows: [['section 2, modals: edit of a reply', 'dialog', 'Изменение ответа']],
  },
  {
    screen: 'an edited post',
    open: async ({ journey, olga }) => {
      const page = await openOwn(journey, olga, 'Изменить')
      await textField(page.getByRole('dialog')).fill('Иначе')
      await page.getByRole('dialog').getByRole('button', { name: 'Сохранить' }).click()
      return page
    },
    shows: [['section 4, post: edit', 'status', 'Изменено']],
  },
  {
    screen: 'an edit whose time is over',
    open: async ({ journey, olga }) => {
      const page = await openOwn(journey, olga, 'Изменить', (it) => it.clock.install())
      await page.getByRole('dialog').waitFor()
      await page.clock.fastForward('10:01')
      return page
    },
    shows: [['section 4, edit window', 'alert', 'Время изменения записи истекло']],
  },
  {
    screen: 'a deleted post',
    open: async ({ journey, olga }) => {
      const page = await openOwn(journey, olga, 'Удалить')
      await page.getByRole('dialog').getByRole('button', { name: 'Удалить' }).click()
      return page
    },
    shows: [['section 4, post: delete', 'status', 'Удалено']],
  },
  {
    screen: 'a post that had been deleted before',
    open: async ({ journey, olga }) => {
      const page = await openOwn(journey, olga, 'Удалить')
      const { body } = await journey.call('GET', '/posts')
      await journey.call('DELETE', `/posts/${body.posts[0].id}`, { token: olga.token })
      await page.getByRole('dialog').getByRole('button', { name: 'Удалить' }).click()
      return page
    },
    shows: [['section 8, delete post 404', 'status', 'Сообщение не найдено']],
  },
  {
    screen: 'a report',
    open: ({ journey, olga, petr }) => openReport(journey, olga, petr),
    shows: [
      ['section 2, modals: report', 'dialog', 'Пожаловаться'],
      ['section 5, report', 'button', 'Отправить'],
    ],
  },
  {
    screen: 'a sent report',
    open: async ({ journey, olga, petr }) => {
      const page = await openReport(journey, olga, petr)
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('radio').first().check()
      await dialog.getByRole('button', { name: 'Отправить' }).click()
      return page
    },
    shows: [['section 4, report', 'status', 'Жалоба отправлена']],
  },
  {
    screen: 'one session closed',
    open: async ({ journey }) => {
      const page = await visitDevices(journey)
      const others = page.getByRole('region', { name: 'Другие сессии' })
      await others.getByRole('listitem').getByRole('button').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Завершить сессию' }).click()
      return page
    },
    shows: [['section 4, closing one session', 'status', 'Сессия завершена']],
  },
  {
    screen: 'all other sessions closed',
    open: async ({ journey }) => {
      const page = await visitDevices(journey)
      await page.getByRole('button', { name: 'Завершить другие сессии' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Завершить', exact: true }).click()
      return page
    },
    shows: [['section 4, closing all others', 'status', 'Сессии завершены']],
  },
]

test.for(SCREENS)('$screen: fixed texts', async ({ open, shows }, { journey, olga, petr }) => {
  const page = await open({ journey, olga, petr })
  for (const [spec, how, text] of shows) {
    await expect.poll(() => isShown(page, how, text), { message: `${spec}: «${text}»` }).toBe(true)
  }
})

test('the username form: fixed texts', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/username' })
  const field = page.getByLabel('Имя пользователя')
  const checks = await holdCalls(page, /\/validation$/)
  for (const [spec, typed, how, text] of [
    ['section 5, username: empty', '', 'alert', 'Введите имя пользователя'],
    [
      'section 5, username: under 5',
      'anna',
      'alert',
      'Имя пользователя должно быть не меньше 5 символов',
    ],
    [
      'section 5, username: over 32',
      'a'.repeat(33),
      'alert',
      'Имя пользователя должно быть не большое 32 символов',
    ],
    [
      'section 5, username: pattern',
      'анна_каренина',
      'alert',
      'Введите корректное имя пользователя',
    ],
    ['section 5, username: checking', 'anna_karenina', 'status', 'Проверка имени пользователя...'],
  ] as const) {
    await field.fill(typed)
    await expect.poll(() => isShown(page, how, text), { message: `${spec}: «${text}»` }).toBe(true)
  }
  checks.letGo()
  const message = 'section 5, username: success: «Имя пользователя свободно»'
  await expect
    .poll(() => isShown(page, 'status', 'Имя пользователя свободно'), { message })
    .toBe(true)
})

test('a post that is added to a list which has it: fixed text of section 8', async ({
  journey,
  olga,
  petr,
}) => {
  const post = await journey.publish(petr, 'Уже на стене')
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Уже на стене').waitFor()
  await page.route('**/api/v1/posts', (route) => route.fulfill({ status: 201, json: post }))
  const logged = page.waitForEvent('console', (it) => it.text().includes(post.id))
  await publishIn(await startPost(page))
  expect((await logged).text()).toContain(`Пост с id=${post.id} уже существует`)
})

/** Whether the page shows the very text, with nothing before or after it. */
async function isShown(page: Page, how: How, text: string): Promise<boolean> {
  if (how === 'tab') return (await page.title()) === text
  return (await locate(page, how, text).filter({ visible: true }).count()) > 0
}

function locate(page: Page, how: Exclude<How, 'tab'>, text: string): Locator {
  const itself = page.getByText(text, { exact: true })
  if (how === 'text') return itself
  if (how === 'alert' || how === 'status') {
    const place = page.getByRole(how)
    return place.and(itself).or(place.locator(itself))
  }
  return page.getByRole(how, { name: text, exact: true })
}

async function publishIn(dialog: Locator): Promise<void> {
  await textField(dialog).fill('Говорю')
  await dialog.getByRole('button', { name: 'Опубликовать' }).click()
}

async function openReply(journey: Journey, olga: TestUser, petr: TestUser): Promise<Page> {
  await journey.publish(petr, 'Вопрос')
  const page = await journey.visit({ as: olga })
  await postWith(page, 'Вопрос').getByRole('button', { name: 'Ответить' }).click()
  await page.getByRole('dialog').waitFor()
  return page
}

async function openOwn(
  journey: Journey,
  olga: TestUser,
  item: string,
  before = async (_: Page) => {},
): Promise<Page> {
  await journey.publish(olga, 'Моя запись')
  const page = await journey.visit({ as: olga, before })
  await chooseFromMenu(postWith(page, 'Моя запись'), item)
  return page
}

async function openReport(journey: Journey, olga: TestUser, petr: TestUser): Promise<Page> {
  await journey.publish(petr, 'Чужая запись')
  const page = await journey.visit({ as: olga })
  await chooseFromMenu(postWith(page, 'Чужая запись'), 'Пожаловаться')
  return page
}

/** Opens the devices of somebody who is signed in on another one too. */
async function visitDevices(journey: Journey): Promise<Page> {
  const here = await journey.signUp()
  await journey.signIn(here.email)
  return journey.visit({ as: here, path: '/settings/devices', viewport: DESKTOP })
}
