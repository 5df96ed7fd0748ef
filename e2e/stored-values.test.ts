import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestUser } from '../server/testing/client.ts'
import { desktopTest as test } from './testing/journey.ts'
import {
  openMenu,
  openTab,
  postWith,
  readOn,
  scroll,
  startPost,
  textField,
} from './testing/page-actions.ts'
import {
  askForCode,
  endSessions,
  enterCode,
  profileLink,
  signInButton,
  signInDialog,
  signInThrough,
} from './testing/sign-in-actions.ts'

test('with junk of every kind in the browser’s storage, a user can still sign in, write and publish', async ({
  journey,
}) => {
  const user = await journey.signUp()
  const page = await journey.visit()
  await signInButton(page).waitFor()
  await page.evaluate(storeJunk, {
    local: {
      theme: '{',
      'client-token': `${'x'.repeat(300)}\0`,
      'had-session': '[{"open":true}]',
      'sign-in': 'null',
      [draftKey(user)]: '{"operation":{"sentAt":1e99},"open":true,"name":"go","path":7,"text":7}',
    },
    session: { intent: '' },
  })
  await page.reload()
  await askForCode(page, user.email)
  await enterCode(page, await journey.nextCode(user.email))
  await profileLink(page).waitFor()
  const dialog = await startPost(page)
  expect(await textField(dialog).inputValue()).toBe('')
  await textField(dialog).fill('Несмотря ни на что')
  await page.keyboard.press('Control+Enter')
  await postWith(page, 'Несмотря ни на что').waitFor()
})

test('in a browser that blocks all site data, the wall loads more posts, a menu opens and signing in begins', async ({
  journey,
}) => {
  await journey.fillWall(await journey.signUp(), 15)
  const page = await journey.visit({ before: (it) => it.addInitScript(blockSiteData) })
  await readOn(page, 15)
  await openMenu(postWith(page, 'Запись 15'))
  await page.keyboard.press('Escape')
  await postWith(page, 'Запись 15').getByText('Запись 15').click()
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Светлая тема' }).click()
  await page.locator('html[data-theme=light]').waitFor()
  await page.getByRole('button', { name: 'Нравится' }).first().click()
  await signInDialog(page).email.waitFor()
})

test('logging out removes the user’s data from every tab, keeps the browser’s own and another user’s, and requests nothing of the user’s', async ({
  journey,
}) => {
  const [olga, petr] = [await journey.signUp(), await journey.signUp()]
  await journey.fillWall(petr, 15)
  const page = await journey.visit({ as: olga })
  const other = await openTab(page)
  const session = { invitation: 'secret', intent: '{"name":"new-post"}', places: '[]' }
  await other.evaluate(storeJunk, { local: {}, session })
  await page.evaluate(storeJunk, {
    local: {
      theme: 'light',
      [`told-removal ${olga.id}`]: '1',
      [`told-outcomes ${olga.id}`]: '1',
      [`told-removal ${petr.id}`]: '1',
      [draftKey(petr)]: '{"text":"Пётр не дописал"}',
    },
    session: { ...session, [`deletion ${olga.id}`]: '{}' },
  })
  await writeDraft(page, 'Ольга не дописала')
  await readOn(page, 15)
  const requests: string[] = []
  await profileLink(page).click()
  page.on('request', (it) => requests.push(new URL(it.url()).pathname))
  await page.getByRole('button', { name: 'Выйти' }).click()
  await page.getByRole('button', { name: 'Выйти всё равно' }).click()
  await signInButton(page).waitFor()
  await signInButton(other).waitFor()
  await expect.poll(() => storedKeys(other)).not.toContain('invitation')
  const kept = ['client-token', 'theme', draftKey(petr), `told-removal ${petr.id}`]
  for (const tab of [page, other]) {
    await expect
      .poll(async () => (await storedKeys(tab)).filter((key) => !ANYBODYS.includes(key)).sort())
      .toEqual(kept.sort())
  }
  await page.reload()
  await signInButton(page).waitFor()
  expect(requests.filter((path) => path.includes('/users/current'))).toEqual([])

  await signInButton(page).click()
  await signInThrough(journey, page, olga.email)
  expect(await textField(await startPost(page)).inputValue()).toBe('')
})

test('the place in a private list is not stored after its user has logged out in another tab', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.fillWall(petr, 15)
  await journey.rows('INSERT INTO likes (user_id, post_id) SELECT $1, id FROM posts', [olga.id])
  const page = await journey.visit({ as: olga, path: '/liked' })
  await page.getByRole('article').nth(9).waitFor()
  await scroll(page, 500)
  await page.waitForFunction(() => scrollY > 0)
  const other = await openTab(page, '/settings')
  await other.getByRole('button', { name: 'Выйти' }).click()
  await signInButton(page).waitFor()
  await page.getByRole('feed', { name: 'Стена' }).getByRole('article').first().waitFor()
  expect(await page.evaluate(() => sessionStorage.getItem('places'))).toBe(null)
})

test('a text typed before the session expired is stored for its author alone', async ({
  journey,
}) => {
  const [olga, petr] = [await journey.signUp(), await journey.signUp()]
  const page = await journey.visit({ as: olga })
  await writeDraft(page, 'Ольга вернётся')
  await endSessions(journey, olga)
  await page.reload()
  await signInButton(page).click()
  await signInThrough(journey, page, petr.email)
  expect(await textField(await startPost(page)).inputValue()).toBe('')
  await page.keyboard.press('Escape')

  await profileLink(page).click()
  await page.getByRole('button', { name: 'Выйти' }).click()
  await signInButton(page).click()
  await signInThrough(journey, page, olga.email)
  expect(await textField(await startPost(page)).inputValue()).toBe('Ольга вернётся')
})

/** «Block all cookies»: every access to a storage of the site throws, and in Firefox a channel. */
function blockSiteData(): void {
  const refuse = () => {
    throw new DOMException('Access is denied for this document.', 'SecurityError')
  }
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
    Object.defineProperty(window, name, { get: refuse })
  }
  Object.assign(window, { BroadcastChannel: refuse })
  Object.defineProperty(document, 'cookie', { get: refuse, set: refuse })
  navigator.locks.request = async () => refuse()
}

/** Keys that a visitor's page stores too. */
const ANYBODYS = ['intro-seen', 'places', 'notice-seen', 'tab']

function storedKeys(page: Page): Promise<string[]> {
  return page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }))
}

type Stored = Record<string, string>

function storeJunk({ local, session }: { local: Stored; session: Stored }): void {
  for (const [key, junk] of Object.entries(local)) localStorage.setItem(key, junk)
  for (const [key, junk] of Object.entries(session)) sessionStorage.setItem(key, junk)
}

/** Returns the key under which a user's draft of a new post is stored. */
function draftKey({ id }: TestUser): string {
  return `draft ${id} new tab`
}

async function writeDraft(page: Page, words: string): Promise<void> {
  const dialog = await startPost(page)
  await textField(dialog).fill(words)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
}
