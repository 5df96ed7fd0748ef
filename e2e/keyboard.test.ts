import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { DESKTOP, test } from './testing/journey.ts'
import { focusedPost, like, postTexts, postWith } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { dialogOf } from './testing/page/overlays.ts'
import { focused, typeRussian } from './testing/page/tab.ts'

test('everything can be done without a mouse', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Нижняя запись')
  await journey.publish(olga, 'Верхняя запись')
  const page = await journey.visit({ as: petr, viewport: DESKTOP })
  await postWith(page, 'Верхняя запись').waitFor()

  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('К содержанию')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('О чём скажете вслух?')
  await page.keyboard.press('Tab')
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')

  // Writes and publishes a new post, which gets the focus.
  await typeRussian(page, 'т')
  await dialogOf(page, 'Новая запись')
  await expect.poll(() => focused(page)).toBe('Текст записи')
  await page.keyboard.insertText('Написано без')
  // AltGr with Enter publishes nothing.
  await page.keyboard.press('Control+Alt+Enter')
  await page.keyboard.insertText(' мыши')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => focusedPost(page)).toBe('Написано без мыши')

  // The first press of j goes on from there.
  await typeRussian(page, 'о')
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')

  // Likes, replies, opens a post.
  await typeRussian(page, 'д')
  const heart = like(postWith(page, 'Верхняя запись'))
  await expect.poll(() => heart.getAttribute('aria-pressed')).toBe('true')
  await typeRussian(page, 'к')
  await dialogOf(page, 'Ответ')
  await page.keyboard.insertText('Ответ без мыши')
  await tabTo(page, 'Опубликовать')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/posts/*')
  await postWith(page, 'Ответ без мыши').waitFor()
  await tabTo(page, 'Назад', 'Shift+Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${journey.url}/`)
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')

  // Edits and deletes an own post by its menu.
  await typeRussian(page, 'л')
  await expect.poll(() => focusedPost(page)).toBe('Написано без мыши')
  await tabTo(page, `Ещё: ${petr.username}`)
  // The key is held down, and repeats, but does not choose from the menu.
  await page.keyboard.down('Enter')
  await page.getByRole('menu').waitFor()
  await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await expect.poll(() => focused(page)).toContain('Изменить')
  await page.keyboard.press('Enter')
  await dialogOf(page, 'Изменение записи')
  await page.keyboard.insertText(', и изменено так же')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await postWith(page, 'Написано без мыши, и изменено так же').waitFor()
  await expect.poll(() => focused(page)).toBe(`Ещё: ${petr.username}`)
  await page.keyboard.press('ArrowDown')
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await dialogOf(page, 'Удалить запись?')
  await tabTo(page, 'Удалить')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => postTexts(page)).toEqual(['Верхняя запись', 'Нижняя запись'])
  await expect.poll(() => focusedPost(page)).toBe('Верхняя запись')
})

test('a neighbour takes the focus of what disappears', async ({ journey, olga, petr }) => {
  const vera = await journey.signUp()
  for (const by of [olga, petr, vera, petr, olga]) await journey.publish(by, `От ${by.username}`)
  await journey.signIn(olga.email)
  await journey.signIn(olga.email)
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  const press = (name: string) => page.getByRole('button', { name }).first().press('Enter')
  const choose = async (name: string, item: string) => {
    await press(`Ещё: ${name}`)
    await page.getByRole('menuitem', { name: item }).press('Enter')
  }
  const focusIsOn = (text: string) => expect.poll(() => focused(page)).toContain(text)
  const postHasFocus = (text: string) => expect.poll(() => focusedPost(page)).toBe(text)

  // The key is held down, and repeats, but neither opens nor presses what takes the focus.
  await choose(olga.username, 'Удалить')
  await page.getByRole('button', { name: 'Удалить' }).first().focus()
  await page.keyboard.down('Enter')
  await postHasFocus(`От ${petr.username}`)
  await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  // Posts disappear before and after the focused one.
  await choose(petr.username, 'Скрыть автора')
  await postHasFocus(`От ${vera.username}`)
  await press('Вернуть')
  await postWith(page, `От ${petr.username}`).first().waitFor()
  await postHasFocus(`От ${vera.username}`)
  await choose(olga.username, 'Удалить')
  await press('Удалить')
  await postHasFocus(`От ${petr.username}`)

  for (const { id } of [petr, vera]) await journey.call('PUT', `/users/${id}/mute`, olga)
  await page.goto(`${journey.url}/settings/hidden`)
  await press(`Вернуть автора ${petr.username}`)
  await focusIsOn(`Вернуть автора ${vera.username}`)
  await page.keyboard.press('Enter')
  await page.getByText('Вы никого не скрыли').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content')

  for (const word of ['ёлки', 'санки']) {
    await write(page.getByRole('textbox', { name: 'Слово' }), word)
    await page.keyboard.press('Enter')
  }
  const words = page.getByRole('button', { name: 'Убрать слово' })
  await words.first().focus()
  await page.keyboard.down('Enter')
  await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  expect(await words.count()).toBe(1)
  await page.keyboard.press('Enter')
  expect(await words.count()).toBe(0)

  await page.goto(`${journey.url}/settings/devices`)
  await press('Firefox')
  await press('Завершить сессию')
  await focusIsOn('Firefox')

  await page.goto(`${journey.url}/settings`)
  await page.getByRole('link', { name: 'Имя пользователя' }).press('Enter')
  await write(page.getByRole('textbox', { name: 'Имя пользователя' }), `${olga.username}_2`)
  await page.getByText('Имя пользователя свободно').waitFor()
  await page.evaluate(goBackLater)
  await press('Сохранить')
  await focusIsOn('Электронная почта')
})

test('the switcher is a listbox, for the arrow keys and for letters', async ({ journey, olga }) => {
  const page = await journey.visit({ as: olga, before: (page) => page.clock.install() })
  const button = page.getByRole('button', { name: 'Новые', exact: true })
  await button.focus()
  await page.keyboard.press('ArrowDown')
  const options = page.getByRole('listbox').getByRole('option')
  await options.first().waitFor()
  expect(await options.allInnerTexts()).toEqual(['Понравившиеся', 'Мои записи', 'Мои ответы'])
  // The page's clock is paused, so that the speed of this machine does not matter.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  const focusedOption = () => page.evaluate(() => document.activeElement?.textContent)
  await typeRussian(page, 'мои')
  await page.clock.runFor(340)
  await typeRussian(page, ' о')
  await page.clock.runFor(360)
  expect(await focusedOption()).toBe('Мои ответы')
  // After 350 ms a new word begins.
  await typeRussian(page, 'п')
  await page.clock.runFor(20)
  expect(await focusedOption()).toBe('Понравившиеся')
  await page.clock.resume()
  await page.keyboard.press('Escape')
  await options.first().waitFor({ state: 'detached' })
  await expect.poll(() => button.evaluate((it) => it === document.activeElement)).toBe(true)

  await page.keyboard.press('Enter')
  await options.first().waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/own/replies')
  await tap(page.getByRole('button', { name: 'Мои ответы' }))
  await options.first().waitFor()
  expect(await options.allInnerTexts()).toEqual(['Новые', 'Понравившиеся', 'Мои записи'])
})

test('the bar of a phone covers nothing that has the focus', async ({ journey, olga }) => {
  await journey.fillWall(olga, 10)
  const page = await journey.visit()
  const bar = await boxOf(page.getByRole('navigation', { name: 'Разделы' }))
  for (const heart of await like(page).all()) {
    await heart.focus()
    expect((await boxOf(heart)).bottom).toBeLessThanOrEqual(bar.top)
  }
})

/** Makes the page go back after the next frame, as a busy machine does. */
function goBackLater(): void {
  const traverseTo = navigation.traverseTo.bind(navigation)
  navigation.traverseTo = (key) => {
    requestAnimationFrame(() => setTimeout(traverseTo, 0, key))
    return {} as NavigationResult
  }
}

async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  for (let step = 0; step < 12; step++) {
    if ((await focused(page)) === name) return
    await page.keyboard.press(key)
  }
  throw new Error(`Tab never came to «${name}», but to «${await focused(page)}»`)
}
