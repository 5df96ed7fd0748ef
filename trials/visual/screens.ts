import type { Page } from 'playwright-core'
import {
  chooseFromMenu,
  openMenu,
  postWith,
  startPost,
  textField,
} from '../../e2e/testing/page-actions.ts'
import { signInButton } from '../../e2e/testing/sign-in-actions.ts'

export type Screen = {
  /** Whether it is opened as one of the demo's people; as a visitor otherwise. */
  isSignedIn?: boolean
  path: string
  /** Resolves when everything in the picture is there. */
  show: (page: Page) => Promise<unknown>
}

const LONG_TEXT = `${'Сегодня в поезде все читали. '.repeat(16)}Даже проводник.`

/** The screens, by the names of their pictures. */
export const SCREENS: Record<string, Screen> = {
  wall: { path: '/', show: (page) => postWith(page, 'грядка').waitFor() },
  thread: { path: '/', show: (page) => openThread(page, 'выдал мандарин') },
  'sign-in': {
    path: '/',
    async show(page) {
      await signInButton(page).click()
      await page.getByRole('dialog').getByLabel('Электронная почта').waitFor()
    },
  },
  rules: {
    path: '/rules',
    show: (page) => page.getByRole('heading', { level: 2 }).first().waitFor(),
  },
  'no-page': {
    path: '/nowhere',
    show: (page) => page.getByText('Проверьте корректность адреса').waitFor(),
  },
  'own-wall': {
    isSignedIn: true,
    path: '/',
    async show(page) {
      const own = postWith(page, 'кулинарную книгу')
      await own.waitFor()
      await openMenu(own)
    },
  },
  compose: {
    isSignedIn: true,
    path: '/',
    async show(page) {
      await textField(await startPost(page)).fill(LONG_TEXT)
    },
  },
  reply: {
    isSignedIn: true,
    path: '/',
    async show(page) {
      await postWith(page, '«Библиотека»').getByRole('button', { name: 'Ответить' }).click()
      await page.getByRole('dialog', { name: 'Ответ' }).waitFor()
    },
  },
  report: {
    isSignedIn: true,
    path: '/',
    async show(page) {
      await chooseFromMenu(postWith(page, '«Библиотека»'), 'Пожаловаться')
      await page.getByRole('dialog').getByRole('radio').last().check()
    },
  },
  'own-replies': {
    isSignedIn: true,
    path: '/own/replies',
    show: (page) => postWith(page, 'Марфе').waitFor(),
  },
  settings: {
    isSignedIn: true,
    path: '/settings',
    show: (page) => page.getByRole('button', { name: 'Выйти' }).waitFor(),
  },
  devices: {
    isSignedIn: true,
    path: '/settings/devices',
    show: (page) => page.getByText('Windows').waitFor(),
  },
  'own-reports': {
    isSignedIn: true,
    path: '/settings/reports',
    show: (page) => page.getByText('«Библиотека»').waitFor(),
  },
  queue: {
    isSignedIn: true,
    path: '/moderation',
    show: (page) => page.getByText('Так не было').waitFor(),
  },
  'block-author': {
    isSignedIn: true,
    path: '/moderation',
    async show(page) {
      await page.getByRole('button', { name: 'Заблокировать автора' }).click()
      await page.getByRole('dialog', { name: 'Заблокировать автора' }).waitFor()
    },
  },
  'delete-account': {
    isSignedIn: true,
    path: '/settings/account/delete',
    show: (page) => page.getByText('14 дней аккаунт можно вернуть').waitFor(),
  },
  username: {
    isSignedIn: true,
    path: '/settings/account/username',
    async show(page) {
      await page.getByRole('textbox').fill('нина')
      await page.getByText('не меньше 5').waitFor()
    },
  },
}

async function openThread(page: Page, text: string): Promise<void> {
  await postWith(page, text).getByText(text).click()
  await postWith(page, 'не терять мандарины').waitFor()
}
