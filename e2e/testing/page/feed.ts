import type { Locator, Page } from 'playwright-core'
import { tap } from '../hands.ts'

export function postWith(page: Page, text: string | RegExp): Locator {
  return page.getByRole('article').filter({ hasText: text })
}

export function postTexts(page: Page): Promise<string[]> {
  return page.getByRole('article').locator('[id$="-text"]').allTextContents()
}

export async function openMenu(post: Locator): Promise<Locator> {
  await tap(post.getByRole('button', { name: 'Ещё' }))
  const menu = post.page().getByRole('menu')
  await menu.waitFor()
  return menu
}

/** Opens the page of a post, with its replies, from a list. */
export async function openThread(page: Page, text: string): Promise<void> {
  await tap(page.getByText(text, { exact: true }))
  await page.getByRole('heading', { name: 'Ответы' }).waitFor()
}

export async function chooseFromMenu(post: Locator, name: string): Promise<void> {
  await tap((await openMenu(post)).getByRole('menuitem', { name }))
}

export function like(where: Page | Locator): Locator {
  return where.getByRole('button', { name: 'Нравится' })
}

export function newPosts(page: Page): Locator {
  return page.getByRole('button', { name: 'Показать новые записи' })
}

/** Returns the header's button that lists the other views of the feed. */
export function feedSwitcher(page: Page): Locator {
  return page.getByRole('banner').locator('[aria-haspopup=listbox]')
}

export async function switchView(page: Page, name: string): Promise<void> {
  await tap(feedSwitcher(page))
  await tap(page.getByRole('option', { name }))
}

export function focusedPost(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const text = document.activeElement?.querySelector<HTMLElement>(
      ':scope[data-post-id] [id$="-text"]',
    )
    return text?.innerText
  })
}
