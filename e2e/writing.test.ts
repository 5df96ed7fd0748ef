import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { startPost, submitPost, textField } from './testing/page/compose.ts'
import { postWith } from './testing/page/feed.ts'
import { boxOf, styleOf } from './testing/page/layout.ts'
import { holdCalls } from './testing/page/network.ts'
import { closeByKey, toast } from './testing/page/overlays.ts'
import { endSessions, profileLink, signInThrough } from './testing/sign-in-actions.ts'

test('characters over 500 are tinted, also after scrolling', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const field = textField(dialog)
  const tint = dialog.locator('mark')
  await write(field, 'слово '.repeat(82).concat('конец'))
  expect(await tint.count()).toBe(0)
  await write(field, `${'слово\n'.repeat(83)}а лишнее`)
  expect(await tint.textContent()).toBe('лишнее')
  await field.evaluate((it) => it.scrollTo(0, it.scrollHeight))
  const distance = async () => (await boxOf(field)).bottom - (await boxOf(tint)).bottom
  await expect.poll(async () => Math.abs(await distance())).toBeLessThan(30)
  await page.emulateMedia({ forcedColors: 'active' })
  expect(await styleOf(tint, 'color')).toBe('rgba(0, 0, 0, 0)')
})

test('the copy that tints does not cover the text of a thread’s field', async ({
  journey,
  olga,
}) => {
  const { id } = await journey.publish(olga, 'Вопрос')
  const page = await journey.visit({ as: olga, path: `/posts/${id}` })
  await write(page.getByRole('textbox', { name: 'Ваш ответ' }), 'слово '.repeat(85))
  const copy = page.locator('[aria-hidden]:has(> mark)')
  expect(await styleOf(copy, 'background-color')).toBe('rgba(0, 0, 0, 0)')
  expect(await styleOf(copy, 'border-top-color')).toBe('rgba(0, 0, 0, 0)')
})

test('Escape during a composition of an input method closes nothing', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga })
  const dialog = await startPost(page)
  const browser = await page.context().newCDPSession(page)
  const composed = { text: 'かん', selectionStart: 2, selectionEnd: 2 }
  await browser.send('Input.imeSetComposition', composed)
  await page.keyboard.press('Escape')
  await page.keyboard.insertText('漢')
  expect(await textField(dialog).inputValue()).toBe('漢')
  await closeByKey(dialog)
})

test('while a text is being sent, the next one begins empty', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga })
  const held = await holdCalls(page, '**/api/v1/posts')
  const dialog = await submitPost(page, 'Первая из двух')
  await held.asked
  const send = dialog.getByRole('button', { name: 'Опубликовать' })
  await expect.poll(() => send.getAttribute('aria-busy')).toBe('true')
  await closeByKey(dialog)
  await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('')
  await write(textField(dialog), 'Вторая из двух')
  held.letGo()
  await toast(page, 'Опубликовано').waitFor()
  await postWith(page, 'Первая из двух').waitFor()
  expect(await textField(dialog).inputValue()).toBe('Вторая из двух')
})

test('if the session ends meanwhile, a text waits for signing in', async ({ journey }) => {
  const vera = await journey.signUp()
  const page = await journey.visit({ as: vera, path: '/own/posts' })
  const dialog = await startPost(page)
  await write(textField(dialog), 'Важная мысль')
  await endSessions(journey, vera)
  await page.keyboard.press('Control+Enter')
  await dialog.getByText('Сессия завершена. Отправим, когда вы войдёте').waitFor()
  await profileLink(page).waitFor({ state: 'detached' })
  await tap(dialog.getByRole('button', { name: 'Войти' }))

  await signInThrough(journey, page, vera.email)
  await postWith(page, 'Важная мысль').waitFor()
})
