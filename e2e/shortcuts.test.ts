import { expect } from 'vitest'
import { tap } from './testing/hands.ts'
import { DESKTOP, PHONE, test } from './testing/journey.ts'
import { focusedPost, like, postWith } from './testing/page/feed.ts'
import { boxOf } from './testing/page/layout.ts'
import { closeByKey, dialogOf } from './testing/page/overlays.ts'
import { profileLink } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('j, k, Page Up and Page Down step through posts', async ({ journey, olga }) => {
  await journey.fillWall(olga, 15)
  const page = await journey.visit({ viewport: DESKTOP })
  await postWith(page, 'Запись 15').waitFor()
  for (const [key, post] of [
    ['j', 15],
    ['j', 14],
    ['k', 15],
    ['PageDown', 14],
    ['PageUp', 15],
  ] as const) {
    await page.keyboard.press(key)
    await expect.poll(() => focusedPost(page)).toBe(`Запись ${post}`)
  }

  // Stepping down loads more posts, and the focused post is visible.
  for (let post = 14; post >= 1; post--) {
    await expect
      .poll(async () => {
        if ((await focusedPost(page)) !== `Запись ${post}`) await page.keyboard.press('j')
        return focusedPost(page)
      })
      .toEqual(`Запись ${post}`)
  }
  const { top, bottom } = await boxOf(page.locator('article:focus'))
  expect(top).toBeGreaterThan(40)
  expect(bottom).toBeLessThanOrEqual(DESKTOP.height)
})

test('«?» shows the shortcuts, and a field ignores them', async ({ journey, olga, petr }) => {
  await journey.publish(olga, 'Единственная запись')
  const page = await journey.visit({ as: petr, viewport: DESKTOP })
  await postWith(page, 'Единственная запись').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('n')
  const form = await dialogOf(page, 'Новая запись')
  const text = form.locator('textarea:focus')
  await text.waitFor()
  await page.keyboard.type('jklnr?')
  await page.keyboard.press('Control+J')
  expect(await text.inputValue()).toBe('jklnr?')
  await closeByKey(form)

  // The chunk of the other dialog is loaded by now, so it would open at once.
  await page.keyboard.press('Shift+Slash')
  const help = await dialogOf(page, 'Сочетания клавиш')
  expect(await help.getByRole('term').allInnerTexts()).toContain('Следующая запись')
  await page.keyboard.press('n')
  await page.keyboard.press('l')
  await page.evaluate(() => new Promise(requestAnimationFrame))
  expect(await help.isVisible()).toBe(true)
  await closeByKey(help)
  await expect.poll(() => focusedPost(page)).toBe('Единственная запись')
  const heart = like(postWith(page, 'Единственная запись'))
  expect(await heart.getAttribute('aria-pressed')).toBe('false')

  const letters = help.getByRole('checkbox', { name: 'Буквенные клавиши включены' })
  await page.keyboard.press('Shift+Slash')
  await letters.uncheck()
  await closeByKey(help)
  await page.reload()
  await whenScriptsRun(page)
  for (const key of ['j', 'n', 'PageDown', 'Shift+Slash']) await page.keyboard.press(key)
  await letters.check()
  await closeByKey(help)
  expect(await focusedPost(page)).toBeUndefined()
  await page.keyboard.press('j')
  await expect.poll(() => focusedPost(page)).toBe('Единственная запись')

  // They work on pages without posts too.
  await page.goto(`${journey.url}/settings`)
  await tap(page.getByRole('button', { name: 'Сочетания клавиш' }))
  await closeByKey(help)
  await page.keyboard.press('n')
  await form.waitFor()
})

test('«/» opens the search, and g the replies', async ({ journey, olga }) => {
  await journey.publish(olga, 'Единственная запись')
  const page = await journey.visit({ as: olga, viewport: DESKTOP })
  await postWith(page, 'Единственная запись').waitFor()
  await page.keyboard.press('/')
  await page.locator('aside').getByRole('searchbox').and(page.locator(':focus')).waitFor()
  await page.keyboard.press('g')
  await expect.poll(() => page.getByRole('searchbox').first().inputValue()).toBe('g')
  await page.keyboard.press('Backspace')
  await page.locator('article').focus()
  await page.keyboard.press('g')
  await page.waitForURL('**/replies')
  await page.setViewportSize(PHONE)
  await page.keyboard.press('/')
  await page.waitForURL('**/search')
  await page.getByRole('searchbox').and(page.locator(':focus')).waitFor()
})

test('on a post’s page l and r act on the focused post', async ({ journey, olga, petr }) => {
  const root = await journey.publish(olga, 'О чём страница')
  await journey.reply(olga, root.id, 'Ответ под ней')
  const page = await journey.visit({ as: petr, path: `/posts/${root.id}`, viewport: DESKTOP })
  const likes = (text: string) => like(postWith(page, text)).getAttribute('aria-pressed')
  await postWith(page, 'Ответ под ней').waitFor()
  await page.keyboard.press('l')
  await expect.poll(() => likes('О чём страница')).toBe('true')
  expect(await likes('Ответ под ней')).toBe('false')
  await page.keyboard.press('r')
  const dialog = await dialogOf(page, 'Ответ')
  await dialog.getByText('О чём страница').waitFor()
  await closeByKey(dialog)

  await postWith(page, 'Ответ под ней').focus()
  await page.keyboard.press('l')
  await expect.poll(() => likes('Ответ под ней')).toBe('true')
  expect(await likes('О чём страница')).toBe('true')
})

test.for([
  ['beside the page, in an open root', 'html', 'open'],
  ['beside the page, in a closed root', 'html', 'closed'],
  ['in the page, in an open root', 'article', 'open'],
  ['in the page, in a closed root', 'article', 'closed'],
  ['beside the page, in no root', 'body', undefined],
] as const)(
  'keys typed into the field of a browser extension %s are not the app’s',
  async ([, parent, mode], { journey, olga, petr }) => {
    await journey.publish(olga, 'Единственная запись')
    const page = await journey.visit({ as: petr, viewport: DESKTOP })
    const heart = like(postWith(page, 'Единственная запись'))
    await profileLink(page).waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => focusedPost(page)).toBe('Единственная запись')

    await page.evaluate(addForeignField, { parent, mode })
    await page.keyboard.type('jklnr?')
    await page.keyboard.down('Enter')
    // A key that is held down.
    await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await page.keyboard.type('l')
    expect(await page.evaluate(() => Reflect.get(window, 'foreign').value)).toBe('jklnr?\n\nl')
    await page.evaluate(() => Reflect.get(window, 'foreign').getRootNode().host?.remove())
    await page.evaluate(() => Reflect.get(window, 'foreign').remove())
    expect(await heart.getAttribute('aria-pressed')).toBe('false')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(page.url()).toBe(`${journey.url}/`)

    await page.keyboard.type('jl')
    await heart.and(page.locator('[aria-pressed=true]')).waitFor()
  },
)

type Foreign = { parent: string; mode: ShadowRootMode | undefined }

/** Adds a text area as a password manager or a translator does, and focuses it. */
function addForeignField({ parent, mode }: Foreign): void {
  const field = document.createElement('textarea')
  const host = document.createElement('x-extension')
  document.querySelector(parent)?.append(mode ? host : field)
  if (mode) host.attachShadow({ mode }).append(field)
  field.focus()
  Reflect.set(window, 'foreign', field)
}
