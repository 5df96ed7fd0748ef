import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Journey, test } from './testing/journey.ts'
import { chooseFromMenu, postWith } from './testing/page-actions.ts'

/** How a text is shown: by its role, as the title of the tab, or as a separate text. */
type How = 'heading' | 'button' | 'link' | 'tab' | 'text'
type Row = [how: How, text: string]

const EMPTY_LIST: Row[] = [
  ['text', 'Записи не найдены'],
  ['text', 'Возможно, записи скоро появятся'],
]
const NO_PAGE: Row[] = [
  ['text', 'Страница не существует'],
  ['text', 'Проверьте корректность адреса'],
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
    ['text', 'Запись не найдена'],
    ['text', 'Запись не существует или была удалена'],
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
  await expectTexts(journey, page, OF_VISITORS)
  await expectTexts(journey, page, { [`/users/${petr.username}`]: EMPTY_LIST })
  const { id } = await journey.publish(petr, 'Без ответов')
  await expectTexts(journey, page, { [`/posts/${id}`]: [['heading', 'Ответы'], ...EMPTY_LIST] })
})

test('the pages of a user, and the dialog that edits a reply, have their fixed texts', async ({
  journey,
  olga,
  petr,
}) => {
  const page = await journey.visit({ as: olga })
  await expectTexts(journey, page, OF_USERS)
  const { id } = await journey.publish(petr, 'Вопрос')
  await journey.reply(olga, id, 'Ответ на него')
  await page.goto(`${journey.url}/posts/${id}`)
  await chooseFromMenu(postWith(page, 'Ответ на него'), 'Изменить')
  await page.getByRole('dialog', { name: 'Изменение ответа', exact: true }).waitFor()
})

async function expectTexts(
  journey: Journey,
  page: Page,
  pages: Record<string, Row[]>,
): Promise<void> {
  for (const [path, rows] of Object.entries(pages)) {
    await page.goto(journey.url + path)
    for (const [how, text] of rows) {
      const message = `${path}: ${how} «${text}»`
      await expect.poll(() => isShown(page, how, text), { message }).toBe(true)
    }
  }
}

/** Whether the page shows exactly this text, with nothing before or after it. */
async function isShown(page: Page, how: How, text: string): Promise<boolean> {
  if (how === 'tab') return (await page.title()) === text
  const found =
    how === 'text'
      ? page.getByText(text, { exact: true })
      : page.getByRole(how, { name: text, exact: true })
  return (await found.filter({ visible: true }).count()) > 0
}
