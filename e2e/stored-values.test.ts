import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { tap, write } from './testing/hands.ts'
import { desktopTest as test } from './testing/journey.ts'
import { startPost, textField } from './testing/page/compose.ts'
import { chooseFromMenu, like, openMenu, openThread, postWith } from './testing/page/feed.ts'
import { readOn, scroll } from './testing/page/layout.ts'
import { countRequests } from './testing/page/network.ts'
import { dialogOf, toast } from './testing/page/overlays.ts'
import { openTab } from './testing/page/tab.ts'
import { profileLink, signInButton, signInThrough } from './testing/sign-in-actions.ts'
import { whenScriptsRun } from './testing/when-scripts-run.ts'

test('a browser that blocks site data can read and begin to sign in', async ({ journey, olga }) => {
  await journey.fillWall(olga, 15)
  const page = await journey.visit({ before: (it) => it.addInitScript(blockSiteData) })
  await readOn(page, 15)
  await openMenu(postWith(page, 'Запись 15'))
  await page.keyboard.press('Escape')
  await openThread(page, 'Запись 15')
  await page.goBack()
  await tap(page.getByRole('button', { name: 'Светлая тема' }))
  await page.locator('html[data-theme=light]').waitFor()
  await tap(like(page).first())
  await dialogOf(page, 'Вход')
})

test('logging out removes only the user’s data, from all tabs, and closes their dialogs', async ({
  journey,
  olga,
  petr,
}) => {
  await journey.fillWall(petr, 15)
  await journey.rows('INSERT INTO likes (user_id, post_id) SELECT $1, id FROM posts', [olga.id])
  const page = await journey.visit({ as: olga })
  const other = await openTab(page, '/liked')
  await other.getByRole('article').nth(9).waitFor()
  await scroll(other, 500)
  await other.waitForFunction(() => scrollY > 0)
  await chooseFromMenu(other.getByRole('article').nth(9), 'Пожаловаться')
  await dialogOf(other, 'Пожаловаться')
  const kept = { theme: 'light', [`text ${petr.id} new 1`]: draftOf(petr) }
  const local = { ...kept, [`told-removal ${olga.id}`]: '1' }
  const session = { invitation: 'secret', [`deletion ${olga.id}`]: '{}' }
  for (const tab of [page, other]) await tab.evaluate(storeJunk, { local, session })
  const draft = await startPost(page)
  await write(textField(draft), 'Ольга не дописала')
  await page.keyboard.press('Escape')
  await draft.waitFor({ state: 'detached' })
  await readOn(page, 15)
  await tap(profileLink(page))
  await tap(page.getByRole('button', { name: 'Выйти' }))
  await tap(page.getByRole('button', { name: 'Выйти всё равно' }))
  await toast(page, 'Вы вышли').waitFor()
  for (const tab of [page, other]) {
    await signInButton(tab).waitFor()
    // Nor does the step back of a dialog reach a page for users, which would ask to sign in.
    await tab.waitForURL(`${journey.url}/`)
  }
  await other.getByRole('feed', { name: 'Стена' }).getByRole('article').first().waitFor()
  expect(await other.getByRole('dialog').count()).toBe(0)
  // The place in a private list is not stored when the list is left.
  expect(await other.evaluate(() => sessionStorage.getItem('places'))).toBe(null)
  expect((await journey.call('GET', '/users/current', { token: olga.token })).status).toBe(401)
  const stays = ['client-token', ...Object.keys(kept)].sort()
  for (const tab of [page, other]) {
    const keys = async () => (await storedKeys(tab)).filter((key) => !ANYBODYS.includes(key))
    await expect.poll(async () => (await keys()).sort()).toEqual(stays)
  }
  const asked = countRequests(page, 'GET PATCH', /\/(?:users|sessions)\/current/)
  await page.reload()
  await signInButton(page).waitFor()
  await whenScriptsRun(page)
  await page.goBack()
  await page.getByRole('dialog', { name: 'Вход' }).waitFor()
  expect(asked()).toBe(0)
  expect(await page.getByText(olga.email).count()).toBe(0)
  await signInThrough(journey, page, olga.email)
  await page.waitForURL(`${journey.url}/settings`)
  expect(await textField(await startPost(page)).inputValue()).toBe('')
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

function draftOf({ id: by }: { id: string }): string {
  const record = { id: '1', by, target: 'new', tab: 'tab', at: 0, until: 0, tries: 0 }
  return JSON.stringify({ ...record, state: 'draft', text: 'Не дописано' })
}

/** Leaves out how far a page was scrolled, which names no post. */
function storedKeys(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    Object.entries<string>({ ...localStorage, ...sessionStorage })
      .filter(([key, value]) => !(key.startsWith('place ') && /^{"y":\d+(?:\.\d+)?}$/.test(value)))
      .map(([key]) => key),
  )
}

function storeJunk(junk: Record<'local' | 'session', Record<string, string>>): void {
  Object.assign(localStorage, junk.local)
  Object.assign(sessionStorage, junk.session)
}
