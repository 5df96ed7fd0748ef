import type { Page } from 'playwright-core'
import { expect } from 'vitest'

export async function pageStored(page: Page, at: string): Promise<void> {
  await expect.poll(async () => Object.keys(await storedPages(page))).toContain(at)
}

/** Returns the stored HTML by path. */
export function storedPages(page: Page): Promise<Record<string, string>> {
  return page.evaluate(async () => {
    const cache = await caches.open('pages')
    const entries = (await cache.keys()).map(async ({ url }) => {
      const stored = await cache.match(url, { ignoreVary: true })
      return [new URL(url).pathname, await stored?.text()]
    })
    return Object.fromEntries(await Promise.all(entries))
  })
}

export function storedAssets(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const stored = await (await caches.open('assets')).keys()
    return stored.map(({ url }) => new URL(url).pathname)
  })
}

export async function storeOtherPosts(count: number): Promise<void> {
  const cache = await caches.open('pages')
  for (let id = 1; id <= count; id++) await cache.put(`/posts/9000${id}`, new Response('Давно'))
}

/** Returns undefined if no newer worker waits to take over. */
export async function stateOfNewWorker(): Promise<string | undefined> {
  return (await navigator.serviceWorker.getRegistration())?.waiting?.state
}

export async function leftovers(): Promise<string[]> {
  const registrations = await navigator.serviceWorker.getRegistrations()
  return [...registrations.map(({ scope }) => scope), ...(await caches.keys())]
}
