import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { test } from './testing/journey.ts'

/** A text, which may be a heading, a button, a link or the title of the tab. */
type Row = string | [how: 'heading' | 'button' | 'link' | 'tab', text: string]

const EMPTY_LIST: Row[] = ['Записи не найдены', 'Возможно, записи скоро появятся']
const NO_PAGE: Row[] = [
  'Страница не существует',
  'Проверьте корректность адреса',
  ['tab', 'Страница не существует - Вслух'],
]
const titled = (title: string): Row[] => [
  ['heading', title],
  ['tab', `${title} - Вслух`],
]

/**
 * The texts of each page that section 2 of the specification fixes to the letter. The texts of an
 * action are in the journey of that action.
 */
const OF_VISITORS: Record<string, Row[]> = {
  '/': [...titled('Стена'), ['button', 'Новые'], ['button', 'Войти'], ...EMPTY_LIST],
  '/posts/999999': [
    'Запись не найдена',
    'Запись не существует или была удалена',
    ['tab', 'Запись не найдена - Вслух'],
  ],
  '/nowhere': NO_PAGE,
  '/search?q=кракозябра': EMPTY_LIST,
}
const OF_USERS: Record<string, Row[]> = {
  '/liked': [...titled('Понравившиеся'), ...EMPTY_LIST],
  '/own/posts': [...titled('Мои записи'), ...EMPTY_LIST],
  '/own/replies': [...titled('Мои ответы'), ...EMPTY_LIST],
  '/replies': EMPTY_LIST,
  '/settings': [...titled('Настройки'), ['link', 'Устройства'], ['button', 'Выйти']],
  '/settings/account/email': [
    ...titled('Электронная почта'),
    ['heading', 'Изменить электронную почту'],
  ],
  '/settings/account/username': [
    ...titled('Имя пользователя'),
    ['heading', 'Задать имя пользователя'],
  ],
  '/settings/devices': titled('Устройства'),
  '/settings/reports': titled('Мои жалобы'),
  '/settings/nowhere': NO_PAGE,
}

test('the pages of a visitor have their fixed texts', async ({ journey, petr }) => {
  const page = await journey.visit()
  await expectTexts(page, OF_VISITORS)
  await expectTexts(page, { [`/users/${petr.username}`]: EMPTY_LIST })
  const { id } = await journey.publish(petr, 'Без ответов')
  await expectTexts(page, { [`/posts/${id}`]: [['heading', 'Ответы'], ...EMPTY_LIST] })
})

test('the pages of a user have their fixed texts', async ({ journey, olga }) => {
  await expectTexts(await journey.visit({ as: olga }), OF_USERS)
})

async function expectTexts(page: Page, pages: Record<string, Row[]>): Promise<void> {
  for (const [path, rows] of Object.entries(pages)) {
    await page.goto(new URL(path, page.url()).href)
    for (const row of rows) {
      const [how, name] = typeof row === 'string' ? (['text', row] as const) : row
      if (how === 'tab') await expect.poll(() => page.title()).toBe(name)
      else {
        // Exactly this text, with nothing before or after it.
        const exact = { name, exact: true }
        const found = how === 'text' ? page.getByText(name, exact) : page.getByRole(how, exact)
        await found.filter({ visible: true }).first().waitFor()
      }
    }
  }
}
