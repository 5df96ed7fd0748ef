import { glob, readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/http/client.ts'
import { copy, tap, write, writeWithSlips } from './testing/hands.ts'
import { DESKTOP, type Journey, test } from './testing/journey.ts'
import { signUpModerator } from './testing/moderation-actions.ts'
import { startPost, textField } from './testing/page/compose.ts'
import { chooseFromMenu, postWith } from './testing/page/feed.ts'
import { passkeyOf } from './testing/passkeys.ts'
import { askForCode, signInButton, signInDialog } from './testing/sign-in-actions.ts'

const ADDRESSES = `anna@example.org anna@uni.msu.ru anna@company.co.uk x@my.site-name.ru
  ivan@student.spbu.ru anna@mail.st-petersburg.ru a@b.c.d.example.org i.i.ivanov@example.org
  ivanov-ivan@example.org ivan_ivanov@example.org ivan+wall@example.org ivan+a.b-c@my.site.example
  1234567890@example.org a1b2@2-nd.example.net anna@example.co anna@example.technology
  АННА@ПРИМЕР.РФ анна@пример.рф анна.петрова@почта.пример.рф ivan@xn--e1afmkfd.xn--p1ai
  Anna.Petrova@Example.ORG ANNA@UNI.MSU.RU o'neil@example.org _anna_@example.org
  anna@sub-1.sub-2.example.com.br user@gov.spb.ru user@edu.mos.ru anna@example--x.org
  anna%list@example.org no-reply@e-mail.my-company.com.ua`.split(/\s+/)

/** A text with all that a field could be tempted to tidy up. */
const TEXT = '  Два  пробела, «кавычки» - тире...ТОЧКИ и end. '

type Wall = { journey: Journey; olga: TestUser; petr: TestUser }
type Place = {
  /** The component that renders the field. */
  file: string
  where: string
  open: (wall: Wall) => Promise<Locator>
  texts?: string[]
}

async function visitPost({ journey, olga, petr }: Wall, as: TestUser): Promise<Page> {
  await journey.publish(olga, 'Запись Ольги')
  const { id } = await journey.publish(petr, 'Запись Петра')
  return journey.visit({ as, path: `/posts/${id}` })
}

async function openSignIn({ journey }: Wall): Promise<Locator> {
  const page = await journey.visit()
  await tap(signInButton(page))
  return signInDialog(page).email
}

async function openEmailChange({ journey, olga }: Wall): Promise<Locator> {
  const page = await journey.visit({ as: olga, path: '/settings/account/email' })
  return page.getByRole('textbox', { name: 'Электронная почта' })
}

const PLACES: Place[] = [
  {
    file: 'web/codes/email-entry.tsx',
    where: 'the address of a sign-in',
    texts: ADDRESSES.slice(0, 15),
    open: openSignIn,
  },
  {
    file: 'web/codes/email-entry.tsx',
    where: 'the new address of an account',
    texts: ADDRESSES.slice(15),
    open: openEmailChange,
  },
  {
    file: 'web/codes/code-input.tsx',
    where: 'the code',
    // The caret stays at the end, so that only equal digits may be added «in the middle».
    texts: ['11111'],
    async open({ journey, olga }) {
      const page = await journey.visit()
      await askForCode(page, olga.email)
      return signInDialog(page).code
    },
  },
  {
    file: 'web/account/username-form.tsx',
    where: 'the username',
    texts: ['Ivan_Petrov', ' Ivan Petrov ', 'Иван'],
    async open({ journey, olga }) {
      const page = await journey.visit({ as: olga, path: '/settings/account/username' })
      return page.getByRole('textbox', { name: 'Имя пользователя' })
    },
  },
  {
    file: 'web/passkeys/passkeys.tsx',
    where: 'the name of a passkey',
    async open({ journey, olga }) {
      await passkeyOf(journey, olga)
      const page = await journey.visit({ as: olga, path: '/settings/passkeys' })
      await tap(page.getByRole('main').getByRole('listitem').getByRole('button'))
      return page.getByRole('textbox', { name: 'Название ключа' })
    },
  },
  {
    file: 'web/mutes/hidden-words.tsx',
    where: 'a hidden word',
    async open({ journey, olga }) {
      const page = await journey.visit({ as: olga, path: '/settings/hidden' })
      return page.getByRole('textbox', { name: 'Слово' })
    },
  },
  {
    file: 'web/search/search-form.tsx',
    where: 'the search',
    async open({ journey }) {
      return (await journey.visit({ path: '/search' })).getByRole('searchbox')
    },
  },
  {
    file: 'web/posts/compose/post-form.tsx',
    where: 'a new post',
    async open({ journey, olga }) {
      const page = await journey.visit({ as: olga, viewport: DESKTOP })
      return textField(await startPost(page))
    },
  },
  {
    file: 'web/reports/report-dialog.tsx',
    where: 'the comment of a report',
    async open(wall) {
      const page = await visitPost(wall, wall.olga)
      await chooseFromMenu(postWith(page, 'Запись Петра'), 'Пожаловаться')
      await page.getByRole('radio', { name: 'Другое нарушение' }).check()
      return page.getByLabel('Что нарушено?')
    },
  },
  {
    file: 'web/moderation/queue/moderator-dialogs.tsx',
    where: 'the reason of a block',
    async open(wall) {
      const page = await visitPost(wall, await signUpModerator(wall.journey))
      await chooseFromMenu(postWith(page, 'Запись Петра'), 'Заблокировать автора…')
      return page.getByLabel('Причина')
    },
  },
]

test.for(PLACES)(
  '$where shows exactly what is typed',
  async ({ open, texts = [TEXT] }, { journey, olga, petr }) => {
    const field = await open({ journey, olga, petr })
    await field.waitFor()
    for (const text of texts) await writeWithSlips(field, text)
  },
)

test('every component with a text field is in a journey that types into it', async () => {
  const files: string[] = []
  for await (const file of glob('web/**/*.tsx', { exclude: ['web/ui/form/*', '**/*.test.tsx'] })) {
    const source = await readFile(file, 'utf8')
    const fields = source.matchAll(
      /<(?:input|textarea|TextField|TextArea|TextAreaField)\s(?:=>|[^>])*>|contentEditable/gs,
    )
    for (const [field] of fields) if (!/\sreadOnly\s/.test(field)) files.push(file)
  }
  const typed = new Set(PLACES.map(({ file }) => file))
  expect(files.sort()).toEqual([...typed].sort())
})

test.for([
  ['a sign-in', openSignIn],
  ['a change of e-mail', openEmailChange],
] as const)('at %s the typed address gets the code', async ([, open], { journey, olga, petr }) => {
  const field = await open({ journey, olga, petr })
  const page = field.page()
  for (const text of ['ivan petrov@mail.ru', 'ivan@mail.ru petr@mail.ru']) {
    await write(field, text)
    expect(await page.getByRole('button', { name: 'Продолжить' }).isDisabled()).toBe(true)
    await field.press('Enter')
    await page.getByRole('alert').getByText('Введите корректный email').waitFor()
    expect(await field.inputValue()).toBe(text)
  }
  await write(field, ' Ivan@uni.msu.ru ')
  await field.press('Enter')
  await page.getByText(/^(Аккаунта с почтой|Отправили код на) Ivan@uni\.msu\.ru/).waitFor()
})

test('a pasted address is cleaned, and the paste can be undone', async ({
  journey,
  olga,
  petr,
}) => {
  const field = await openEmailChange({ journey, olga, petr })
  await write(field, 'x@')
  await field.press('ControlOrMeta+A')
  await copy(field.page(), 'Анна Петрова <mailto:anna@uni.msu.ru>; ')
  await field.press('ControlOrMeta+V')
  expect(await field.inputValue()).toBe('anna@uni.msu.ru')
  await field.press('ControlOrMeta+Z')
  expect(await field.inputValue()).toBe('x@')
})

test('a name of two words is refused, spaces around a name are not sent', async ({
  journey,
  olga,
}) => {
  const page = await journey.visit({ as: olga, path: '/settings/account/username' })
  const form = page.getByRole('main').locator('form')
  const field = form.getByRole('textbox', { name: 'Имя пользователя' })
  const save = form.getByRole('button', { name: 'Сохранить' })
  for (const [typed, error] of [
    ['  ', 'Введите имя пользователя'],
    ['Ivan ', 'Имя пользователя должно быть не меньше 5 символов'],
    ['Ivan Petrov', 'Введите корректное имя пользователя'],
    ['Ivan Petrov Ivan Petrov Ivan Petrov', 'Имя пользователя должно быть не большое 32 символов'],
  ] as const) {
    await write(field, typed)
    await expect.poll(() => form.getByRole('alert').textContent()).toBe(error)
    expect(await field.inputValue()).toBe(typed)
    expect(await save.isDisabled()).toBe(true)
  }
  const name = `typed_${olga.username.slice(-5)}`
  await write(field, ` ${name} `)
  await form.getByText('Имя пользователя свободно').waitFor()
  await tap(save)
  await page.getByRole('link', { name: `Имя пользователя . ${name}` }).waitFor()
})
