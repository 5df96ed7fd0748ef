import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { enterDigits, write } from '../../e2e/testing/hands.ts'
import type { Journey } from '../../e2e/testing/journey.ts'
import { textField } from '../../e2e/testing/page/compose.ts'
import { like, openMenu, postWith } from '../../e2e/testing/page/feed.ts'
import { toast } from '../../e2e/testing/page/overlays.ts'
import { addDevice, passkeyOf } from '../../e2e/testing/passkeys.ts'
import { codeFor } from '../../e2e/testing/product.ts'
import { profileLink, signInButton, signInDialog } from '../../e2e/testing/sign-in-actions.ts'
import { leave } from '../../server/testing/calls/account-deletion-calls.ts'
import type { TestUser } from '../../server/testing/http/client.ts'
import type { Person } from './person.ts'
import type { Flow, World } from './run-flow.ts'

const NEW_EMAIL = 'new-here@example.org'

const nothing = async () => {}
const button = (where: Page | Locator, name: string | RegExp) =>
  where.getByRole('button', { name, exact: true })
const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true })

/** Reports Olga's post, as Petr. */
const reported = ({ call }: Journey, { petr, post }: World) =>
  call('POST', `/posts/${post.id}/reports?reason_id=1`, { token: petr.token })

const old = ({ rows }: Journey) =>
  rows(`UPDATE posts SET created_at = created_at - interval '11 minutes'`)

async function clarified(journey: Journey, { olga, post }: World): Promise<void> {
  await old(journey)
  const sent = { token: olga.token, body: { text: 'И отвечают' } }
  await journey.call('POST', `/posts/${post.id}/clarification`, sent)
}

async function removed(journey: Journey, world: World): Promise<void> {
  await reported(journey, world)
  const sent = { token: world.vera.token, body: { verdict: 'remove', reason: 'Спам' } }
  await journey.call('POST', `/moderation/posts/${world.post.id}/decision`, sent)
}

const threadOf =
  (key: 'post' | 'question') =>
  (world: World): string =>
    `/posts/${world[key].id}`

async function choose({ page }: Person, text: string, name: string | RegExp): Promise<void> {
  if ((await page.getByRole('menu').count()) > 0) await page.keyboard.press('Escape')
  const menu = await openMenu(postWith(page, text).first())
  await menu.getByRole('menuitem', { name }).click()
}

/** Opens a dialog from the menu of a post. */
async function openFromMenu(person: Person, text: string, item: string | RegExp, title: string) {
  const dialog = dialogOf(person.page, title)
  await person.does(() => choose(person, text, item), dialog)
  return dialog
}

async function openSignIn(person: Person): Promise<void> {
  const { page } = person
  await person.does(() => signInButton(page).click(), signInDialog(page).email)
}

async function sendEmail(person: Person, email: string, seen: Locator): Promise<void> {
  const field = signInDialog(person.page).email
  const press = () => field.press('Enter')
  const send = async () => {
    await write(field, email)
    await press()
  }
  await person.does(send, seen, press)
}

/** Sends an address without an account, and agrees to register with it. */
async function sendNewEmail(person: Person, email: string): Promise<void> {
  const step = signInDialog(person.page)
  await sendEmail(person, email, step.goBack)
  await person.does(() => step.proceed.click(), step.code)
}

/** Types the mailed code of an address into the page's field. */
async function typeCode(person: Person, world: World, email: string, seen: Locator): Promise<void> {
  const field = person.page.getByLabel('Код подтверждения')
  let code: string | undefined
  const type = async () => {
    code = await world.code(email)
    await enterDigits(field, code)
  }
  // The code may be redeemed by now, and its operation gone.
  await person.does(type, seen, () => enterDigits(field, code ?? ''))
}

async function moved({ call, mailbox }: Journey, world: World): Promise<void> {
  const { token, clientToken, email } = world.olga
  const path = '/users/current/email'
  const started = await call('PUT', path, { token, body: { email: NEW_EMAIL, clientToken } })
  const body = { confirmCode: codeFor(started.body.id), clientToken }
  await call('PUT', `${path}/${started.body.id}/verify`, { token, body })
  const { text } = await mailbox.mailAbout(email, /Почта аккаунта изменена/)
  world.link = /^http\S+\/email-undo#\S+$/m.exec(text)?.[0] ?? ''
}

async function withPasskey(journey: Journey, world: World): Promise<void> {
  world.passkeys = await passkeyOf(journey, world.olga)
}

const keyOf = (page: Page) => page.getByRole('main').getByRole('listitem').getByRole('button')

async function left(journey: Journey, { olga }: World): Promise<void> {
  await leave({ call: journey.call, codeFor }, olga)
  const visible = 'SELECT FROM visible_posts WHERE owner_id = $1'
  await expect.poll(() => journey.rows(visible, [olga.id])).toEqual([])
}

const secondSession = ({ signIn }: Journey, { olga }: World): Promise<TestUser> =>
  signIn(olga.email)

const heart = ({ page }: Person) => like(postWith(page, 'О чём говорит стена'))
const shows = (it: Locator, attribute: string, value: string) => async () =>
  (await it.getAttribute(attribute).catch(() => null)) === value

/** Decides about Olga's post, whose card then shows `after`, or is gone. */
async function decide(person: Person, act: () => Promise<unknown>, after: string): Promise<void> {
  const { page } = person
  const card = postWith(page, 'Говорят, стены слышат')
  await person.does(nothing, card)
  await person.does(act, page.getByText(after))
}

const POSTS_COME_OR_GO = [
  {
    after: /^/,
    line: /^page (?:has|lacks): Это все записи$/,
    because: 'A job hides and shows the posts of the account, before the wall is read or after.',
  },
]

const DECIDED_TWICE = [
  {
    after: /^repeat POST/,
    line: /^said: Об этой записи уже решили$/,
    because: 'The page cannot know that its only call arrived twice. What it says is true.',
  },
]

const SECRET_LOST = [
  {
    after: /^(?:drop|delay|repeat) PATCH \/sessions\/current 1$/,
    line: /^public\.sessions (?:has|lacks): /,
    because: 'The former secret is valid for 60 s. Nobody has sent the new one before the end.',
  },
]

const CHALLENGE_UNSIGNED = [
  {
    after: /^/,
    line: /^public\.passkey_operations has: .*"redeemed_at":null/,
    because: 'A challenge that reached no browser is signed by nobody, and ends after 20 minutes.',
  },
]

export const FLOWS: Flow[] = [
  {
    name: 'register',
    writes: [
      'POST /logins',
      'POST /registrations',
      'POST /registrations/:id/verify',
      'POST /codes/:id/mail',
    ],
    async act(person, world) {
      await openSignIn(person)
      await sendNewEmail(person, NEW_EMAIL)
      await typeCode(person, world, NEW_EMAIL, profileLink(person.page))
    },
  },
  {
    name: 'register by an invitation',
    writes: [
      'POST /invitations/validation',
      'POST /registrations',
      'POST /registrations/:id/verify',
    ],
    path: () => '/invitation#a-token-that-is-good',
    prepare: ({ rows }) =>
      rows(`INSERT INTO invitations (token_hash, expires_at)
        VALUES (sha256('a-token-that-is-good'), now() + interval '1 day')`),
    async act(person, world) {
      const { page } = person
      const step = signInDialog(page)
      await person.does(() => button(page, 'Зарегистрироваться').click(), step.email)
      await sendNewEmail(person, NEW_EMAIL)
      await typeCode(person, world, NEW_EMAIL, profileLink(page))
    },
  },
  {
    name: 'sign in',
    writes: ['POST /logins', 'POST /logins/:id/verify'],
    async act(person, world) {
      const { email } = world.olga
      await openSignIn(person)
      await sendEmail(person, email, signInDialog(person.page).code)
      await typeCode(person, world, email, profileLink(person.page))
    },
  },
  {
    name: 'refresh',
    writes: ['PATCH /sessions/current', 'POST /posts/:id/likes'],
    as: 'olga',
    // The secret of the session is due to be rotated.
    prepare: ({ rows }, { olga }) =>
      rows(`UPDATE sessions SET rotated_at = now() - interval '1 hour' WHERE user_id = $1`, [
        olga.id,
      ]),
    async act(person) {
      const { page } = person
      await person.does(nothing, profileLink(page))
      // The token is too old for the next call.
      await page.evaluate(() => {
        const now = Date.now
        Date.now = () => now() + 3_600_000
      })
      await person.does(() => heart(person).click(), shows(heart(person), 'aria-pressed', 'true'))
    },
    exceptions: SECRET_LOST,
  },
  {
    name: 'publish',
    writes: ['POST /posts'],
    as: 'olga',
    async act(person) {
      const { page } = person
      const dialog = dialogOf(page, 'Новая запись')
      await person.does(nothing, profileLink(page))
      await person.does(() => button(page, 'Новая запись').first().click(), dialog)
      await person.does(
        async () => {
          await write(textField(dialog), 'Сказано один раз')
          await page.keyboard.press('Control+Enter')
        },
        toast(page, 'Опубликовано'),
        nothing,
      )
    },
  },
  {
    name: 'reply',
    writes: ['POST /posts/:id/replies'],
    as: 'olga',
    path: threadOf('question'),
    async act(person) {
      const { page } = person
      const field = page.getByRole('textbox', { name: 'Ваш ответ' })
      await person.does(nothing, field)
      await person.does(
        async () => {
          await write(field, 'О том же')
          await page.keyboard.press('Control+Enter')
        },
        toast(page, 'Опубликовано'),
        nothing,
      )
    },
  },
  {
    name: 'edit',
    writes: ['PATCH /posts/:id'],
    as: 'olga',
    path: threadOf('post'),
    async act(person) {
      const { page } = person
      const dialog = await openFromMenu(
        person,
        'Говорят, стены слышат',
        /^Изменить/,
        'Изменение записи',
      )
      await person.does(
        async () => {
          await write(textField(dialog), 'Говорят, стены молчат')
          await page.keyboard.press('Control+Enter')
        },
        toast(page, 'Изменено'),
        nothing,
      )
    },
  },
  {
    name: 'clarify',
    writes: ['POST /posts/:id/clarification'],
    as: 'olga',
    path: threadOf('post'),
    prepare: old,
    async act(person) {
      const { page } = person
      const dialog = await openFromMenu(person, 'Говорят, стены слышат', 'Уточнить', 'Уточнение')
      await person.does(
        async () => {
          await write(dialog.getByRole('textbox'), 'И отвечают')
          await page.keyboard.press('Control+Enter')
        },
        toast(page, 'Опубликовано'),
        nothing,
      )
    },
  },
  {
    name: 'take a clarification away',
    writes: ['DELETE /posts/:id/clarification'],
    as: 'olga',
    path: threadOf('post'),
    prepare: clarified,
    act: (person) =>
      person.does(
        () => choose(person, 'Говорят, стены слышат', 'Убрать уточнение'),
        toast(person.page, 'Уточнение осталось среди ответов'),
      ),
  },
  {
    name: 'delete',
    writes: ['DELETE /posts/:id'],
    as: 'olga',
    path: threadOf('post'),
    async act(person) {
      const dialog = await openFromMenu(
        person,
        'Говорят, стены слышат',
        /^Удалить$/,
        'Удалить запись?',
      )
      await person.does(
        () => button(dialog, 'Удалить').click(),
        person.page.getByText(/^(?:Удалено|Сообщение не найдено)$/),
      )
    },
    exceptions: [
      {
        after: /^repeat DELETE/,
        line: /^said: Сообщение не найдено$/,
        because: 'The page cannot know that its only call arrived twice.',
      },
    ],
  },
  {
    name: 'like',
    writes: ['POST /posts/:id/likes'],
    as: 'olga',
    act: (person) =>
      person.does(() => heart(person).click(), shows(heart(person), 'aria-pressed', 'true')),
  },
  {
    name: 'take a like back',
    writes: ['DELETE /posts/:id/likes'],
    as: 'olga',
    prepare: ({ call }, { olga, question }) =>
      call('POST', `/posts/${question.id}/likes`, { token: olga.token }),
    async act(person) {
      await person.does(nothing, shows(heart(person), 'aria-pressed', 'true'))
      await person.does(() => heart(person).click(), shows(heart(person), 'aria-pressed', 'false'))
    },
  },
  {
    name: 'report',
    writes: ['POST /posts/:id/reports'],
    as: 'olga',
    path: threadOf('question'),
    async act(person) {
      const dialog = await openFromMenu(
        person,
        'О чём говорит стена',
        'Пожаловаться',
        'Пожаловаться',
      )
      const reason = dialog.getByRole('radio', { name: 'Спам или реклама' })
      await person.does(
        () => reason.check(),
        () => reason.isChecked(),
      )
      await person.does(
        () => button(dialog, 'Отправить').click(),
        toast(person.page, 'Жалоба отправлена'),
      )
    },
  },
  {
    name: 'remove as a moderator',
    exceptions: DECIDED_TWICE,
    writes: ['POST /moderation/posts/:id/decision'],
    as: 'vera',
    path: () => '/moderation',
    prepare: reported,
    act: (person) => decide(person, () => button(person.page, /^Удалить: /).click(), 'Жалоб нет'),
  },
  {
    name: 'keep as a moderator',
    exceptions: DECIDED_TWICE,
    writes: ['POST /moderation/posts/:id/decision'],
    as: 'vera',
    path: () => '/moderation',
    prepare: reported,
    act: (person) => decide(person, () => button(person.page, /^Оставить: /).click(), 'Жалоб нет'),
  },
  {
    name: 'block as a moderator',
    writes: ['PUT /moderation/users/:id/block'],
    as: 'vera',
    path: () => '/moderation',
    prepare: reported,
    act: (person) =>
      decide(
        person,
        async () => {
          const { page } = person
          await button(page, /^Заблокировать автора…: /).click()
          const dialog = dialogOf(page, 'Заблокировать автора')
          await dialog.getByLabel('Удалить и эту запись').uncheck()
          await button(dialog, 'Заблокировать').click()
        },
        'Причина блокировки',
      ),
  },
  {
    name: 'unblock as a moderator',
    writes: ['DELETE /moderation/users/:id/block'],
    as: 'vera',
    path: () => '/moderation',
    async prepare(journey, world) {
      await reported(journey, world)
      const sent = { token: world.vera.token, body: { reason: 'Спам', days: 7 } }
      await journey.call('PUT', `/moderation/users/${world.olga.id}/block`, sent)
    },
    act: (person) =>
      person.does(
        () => button(person.page, /^Разблокировать: /).click(),
        toast(person.page, 'Автор разблокирован'),
      ),
  },
  {
    name: 'rename',
    writes: ['PATCH /users/current/profile'],
    as: 'olga',
    path: () => '/settings/account/username',
    async act(person) {
      const { page } = person
      const field = page.getByLabel('Имя пользователя')
      await person.does(
        () => write(field, 'wanted_name'),
        page.getByText('Имя пользователя свободно'),
      )
      await person.does(() => button(page, 'Сохранить').click(), toast(page, 'Имя сохранено'))
    },
  },
  {
    name: 'change the e-mail',
    writes: ['PUT /users/current/email', 'PUT /users/current/email/:id/verify'],
    as: 'olga',
    path: () => '/settings/account/email',
    async act(person, world) {
      const { page } = person
      const field = page.getByLabel('Электронная почта')
      const press = () => button(page, 'Продолжить').click()
      const send = async () => {
        await write(field, NEW_EMAIL)
        await press()
      }
      await person.does(send, page.getByLabel('Код подтверждения'), press)
      await typeCode(person, world, NEW_EMAIL, toast(page, 'Почта изменена'))
    },
  },
  {
    name: 'undo the change of e-mail',
    writes: ['POST /email-changes/:id/undo'],
    as: 'olga',
    prepare: moved,
    path: ({ link }) => new URL(link).pathname + new URL(link).hash,
    async act(person) {
      const { page } = person
      await person.does(
        () => button(page, 'Вернуть прежнюю почту').click(),
        page.getByText('Прежняя почта возвращена'),
      )
    },
  },
  {
    name: 'add a passkey',
    writes: ['POST /users/current/passkeys', 'POST /users/current/passkeys/:id/verify'],
    as: 'olga',
    path: () => '/settings/passkeys',
    async act(person) {
      const { page } = person
      await addDevice(page)
      const add = button(page, 'Добавить ключ')
      await person.does(nothing, add)
      await person.does(
        () => add.click(),
        page.getByText('Если почта пропадёт, войти можно ключом'),
      )
    },
    exceptions: CHALLENGE_UNSIGNED,
  },
  {
    name: 'rename a passkey',
    writes: ['PATCH /users/current/passkeys/:id'],
    as: 'olga',
    path: () => '/settings/passkeys',
    prepare: withPasskey,
    async act(person) {
      const { page } = person
      const field = page.getByLabel('Название ключа')
      await person.does(() => keyOf(page).click(), field)
      await person.does(
        () => write(field, 'Ноутбук'),
        async () => (await field.inputValue()) === 'Ноутбук',
      )
      await person.does(() => button(page, 'Сохранить').click(), toast(page, 'Название сохранено'))
    },
  },
  {
    name: 'remove a passkey',
    writes: ['DELETE /users/current/passkeys/:id'],
    as: 'olga',
    path: () => '/settings/passkeys',
    prepare: withPasskey,
    async act(person) {
      const { page } = person
      await person.does(() => keyOf(page).click(), button(page, 'Удалить ключ'))
      await person.does(
        () => button(page, 'Удалить ключ').click(),
        page.getByText('Если почта пропадёт, войти будет нечем'),
      )
    },
  },
  {
    name: 'sign in with a passkey',
    writes: ['POST /passkey-logins', 'POST /passkey-logins/:id/verify'],
    prepare: withPasskey,
    async act(person, { passkeys }) {
      const { page } = person
      await addDevice(page, { passkeys })
      await person.does(() => signInButton(page).click(), profileLink(page))
    },
    exceptions: CHALLENGE_UNSIGNED,
  },
  {
    name: 'close a session',
    writes: ['DELETE /sessions/:id'],
    as: 'olga',
    path: () => '/settings/devices',
    prepare: secondSession,
    async act(person) {
      const { page } = person
      const others = page.getByRole('region', { name: 'Другие сессии' })
      const dialog = dialogOf(page, 'Другая сессия')
      const close = button(dialog, 'Завершить сессию')
      await person.does(() => others.getByRole('listitem').getByRole('button').click(), close)
      await person.does(() => close.click(), page.getByText('Других сессий нет'))
    },
    exceptions: [
      {
        after: /^repeat DELETE/,
        line: /^said: Сессия не найдена или уже завершена$/,
        because: 'The page cannot know that its only call arrived twice. What it says is true.',
      },
    ],
  },
  {
    name: 'close the other sessions',
    writes: ['DELETE /sessions'],
    as: 'olga',
    path: () => '/settings/devices',
    prepare: secondSession,
    async act(person) {
      const { page } = person
      const dialog = dialogOf(page, 'Завершить другие сессии?')
      await person.does(() => button(page, 'Завершить другие сессии').click(), dialog)
      await person.does(() => button(dialog, 'Завершить').click(), toast(page, 'Сессии завершены'))
    },
  },
  {
    name: 'sign out',
    writes: ['DELETE /sessions/current'],
    as: 'olga',
    path: () => '/settings',
    act: (person) =>
      person.does(() => button(person.page, 'Выйти').click(), toast(person.page, 'Вы вышли')),
  },
  {
    name: 'hide an author',
    writes: ['PUT /users/:id/mute'],
    as: 'olga',
    act: (person) =>
      person.does(
        () => choose(person, 'О чём говорит стена', 'Скрыть автора'),
        person.page.getByText(/^Вы скрыли автора/),
      ),
  },
  {
    name: 'hide an author for a week',
    writes: ['PUT /users/:id/mute'],
    as: 'olga',
    act: (person) =>
      person.does(
        () => choose(person, 'О чём говорит стена', 'Скрыть на неделю'),
        person.page.getByText(/^Вы скрыли автора .* на неделю/),
      ),
  },
  {
    name: 'show an author again',
    writes: ['DELETE /users/:id/mute'],
    as: 'olga',
    path: () => '/settings/hidden',
    prepare: ({ call }, { olga, petr }) => call('PUT', `/users/${petr.id}/mute`, olga),
    act: (person) =>
      person.does(
        () => button(person.page, /^Вернуть автора/).click(),
        person.page.getByText(/снова виден$/),
      ),
  },
  {
    name: 'mute a post',
    writes: ['PUT /posts/:id/muted'],
    as: 'olga',
    path: threadOf('post'),
    act: (person) =>
      person.does(
        () => choose(person, 'Говорят, стены слышат', 'Не сообщать об ответах'),
        toast(person.page, 'Больше не сообщаем'),
      ),
  },
  {
    name: 'unmute a post',
    writes: ['DELETE /posts/:id/muted'],
    as: 'olga',
    path: threadOf('post'),
    prepare: ({ call }, { olga, post }) => call('PUT', `/posts/${post.id}/muted`, olga),
    act: (person) =>
      person.does(
        () => choose(person, 'Говорят, стены слышат', /^Сообщать об ответах/),
        toast(person.page, 'Снова сообщаем об ответах'),
      ),
  },
  {
    name: 'read the replies',
    writes: ['PUT /users/current/received'],
    as: 'olga',
    path: () => '/replies',
    act: (person) =>
      person.does(nothing, person.page.getByRole('link', { name: 'Ответы мне', exact: true })),
  },
  {
    name: 'stop the mails about replies',
    writes: ['PUT /users/current/reply-mails'],
    as: 'olga',
    path: () => '/settings',
    async act(person) {
      const box = person.page.getByRole('checkbox', { name: 'Письма об ответах' })
      await person.does(
        () => box.click(),
        async () => !(await box.isChecked()),
      )
    },
  },
  {
    name: 'appeal',
    writes: ['POST /users/current/removed-posts/:id/appeal'],
    as: 'olga',
    path: () => '/own/posts',
    prepare: removed,
    async act(person) {
      const { page } = person
      const dialog = dialogOf(page, 'Обжалование')
      await person.does(() => button(page, /^Обжаловать: /).click(), dialog)
      await person.does(
        async () => {
          await write(dialog.getByLabel('Текст обжалования'), 'Это не спам')
          await button(dialog, 'Отправить').click()
        },
        toast(page, 'Отправлено модератору'),
        nothing,
      )
    },
  },
  {
    name: 'read what came of reports',
    writes: ['PUT /users/current/reports/seen'],
    as: 'petr',
    path: () => '/settings/reports',
    prepare: removed,
    act: (person) => person.does(nothing, person.page.getByText('Запись удалена')),
    exceptions: [
      {
        after: /^(?:drop|delay) GET \/users\/current\/reports 1$/,
        line: /^stored (?:has|lacks): told-outcomes /,
        because: 'The toast of other pages comes at the next visit, if this page was not read.',
      },
      {
        after: /^lose PUT/,
        line: /^public\.reports lacks: /,
        because: 'The outcome is new again at the next visit.',
      },
    ],
  },
  {
    name: 'take the data',
    writes: ['POST /users/current/downloads'],
    as: 'olga',
    path: () => '/settings',
    async act(person) {
      const { page } = person
      let isSaved = false
      page.on('download', () => {
        isSaved = true
      })
      await person.does(
        () => button(page, /^Скачать мои данные/).click(),
        async () => isSaved,
      )
    },
  },
  {
    name: 'leave',
    exceptions: POSTS_COME_OR_GO,
    writes: ['POST /users/current/deletion', 'POST /users/current/deletion/:id/verify'],
    as: 'olga',
    path: () => '/settings/account/delete',
    async act(person, world) {
      const { page } = person
      await person.does(
        () => button(page, 'Получить код').click(),
        page.getByLabel('Код подтверждения'),
      )
      await typeCode(person, world, world.olga.email, page.getByText(/^Аккаунт удалён/))
    },
  },
  {
    name: 'return',
    exceptions: POSTS_COME_OR_GO,
    writes: ['POST /logins', 'POST /logins/:id/verify'],
    prepare: left,
    async act(person, world) {
      const { page } = person
      const { email } = world.olga
      await openSignIn(person)
      await sendEmail(person, email, signInDialog(person.page).code)
      const back = button(page, 'Вернуть аккаунт')
      await typeCode(person, world, email, back)
      await person.does(() => back.click(), toast(page, 'С возвращением'))
    },
  },
]
