import { cursorIn, FIRST_PAGE_START, markStale, PATHS, pageAt } from '../../contract/pages.ts'
import { storeAssetsOf } from './stored-assets.ts'

declare const self: ServiceWorkerGlobalScope

const PAGES = 'pages'
const POSTS_AT_MOST = 50
const TIMEOUT_MS = 3000

/** Responds with the stored page after an error or 3 s, or with the shell on an error. */
export async function respondWithPage(event: FetchEvent): Promise<Response> {
  const fresh = fetchPage(event)
  event.waitUntil(fresh.catch(() => undefined))
  const first = await Promise.race([fresh.catch(() => undefined), pause(TIMEOUT_MS)])
  if (first) return first
  const url = new URL(event.request.url)
  const stored = await findStored(url).catch(() => undefined)
  return stored ?? fresh.catch(() => storedShell(url))
}

async function findStored({ pathname, search }: URL): Promise<Response | undefined> {
  const path = pageAt(pathname)?.path
  const stored = path && (await caches.match(path, { cacheName: PAGES, ignoreVary: true }))
  if (!stored) return undefined
  // Only the beginning of a list is stored.
  if (cursorIn(search) !== '') return Response.redirect(path)
  return new Response(markStale(await stored.text()), { headers: stored.headers })
}

/** Stores the pages that were loaded before the first worker was active. */
export async function storeOpenPages(): Promise<void> {
  for (const client of await self.clients.matchAll({ type: 'window' })) {
    const url = new URL(client.url)
    if (mayBeStored(url)) await storePage(url, await fetch(url.pathname))
  }
}

export async function readStoredPages(): Promise<string[]> {
  const cache = await caches.open(PAGES)
  const responses = await cache.matchAll(undefined, { ignoreVary: true })
  return Promise.all(responses.map((response) => response.text()))
}

async function fetchPage(event: FetchEvent): Promise<Response> {
  const preloaded: Response | undefined = await event.preloadResponse
  const response = preloaded ?? (await fetch(event.request))
  if (response.status >= 500) throw new Error(`The server answered ${response.status}`)
  const url = new URL(event.request.url)
  // A page for which there is no room is still shown.
  if (mayBeStored(url)) {
    event.waitUntil(storePage(url, response.clone()).catch(() => undefined))
  }
  return response
}

/** Returns whether a page is the same for all visitors, so that it may be stored. */
function mayBeStored({ pathname, search }: URL): boolean {
  const page = pageAt(pathname)
  const isPublic = page?.name === 'wall' || page?.name === 'post'
  return isPublic && page.path === pathname && search === ''
}

async function storePage({ pathname }: URL, response: Response): Promise<void> {
  const cache = await caches.open(PAGES)
  if (response.status === 404) {
    await cache.delete(pathname, { ignoreVary: true })
    return
  }
  const page = isPrivate(response) ? await fetch(pathname, { credentials: 'omit' }) : response
  if (!isPublicPage(page)) return
  const copy = page.clone()
  const html = await page.text()
  // A captive portal or a filter answers with a page of its own.
  if (!html.includes(FIRST_PAGE_START)) return
  await storeAssetsOf(html)
  await cache.put(pathname, copy)
  await removeOldestPosts(cache)
}

function isPublicPage({ status, type, redirected, headers }: Response): boolean {
  return (
    status === 200 &&
    type === 'basic' &&
    !redirected &&
    (headers.get('content-type') ?? '').startsWith('text/html') &&
    !isPrivate({ headers })
  )
}

function isPrivate({ headers }: Pick<Response, 'headers'>): boolean {
  return /no-store|private/.test(headers.get('cache-control') ?? '')
}

async function removeOldestPosts(cache: Cache): Promise<void> {
  const posts = (await cache.keys()).filter(({ url }) => new URL(url).pathname !== PATHS.wall)
  const surplus = posts.slice(0, Math.max(0, posts.length - POSTS_AT_MOST))
  await Promise.all(surplus.map((request) => cache.delete(request, { ignoreVary: true })))
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}

const SHELL = 'shell'
/** A page of users, which visitors get without content: the app fills it at any address. */
const SHELL_PATH = PATHS.settings

/** Stores the shell, in which the app shows what is wrong with a page that is not stored. */
export async function storeShell(): Promise<void> {
  const shell = await fetch(SHELL_PATH, { credentials: 'omit' })
  if (!shell.ok) throw new Error(`The server answered ${shell.status}`)
  await storeAssetsOf(await shell.clone().text())
  const cache = await caches.open(SHELL)
  await cache.put(SHELL_PATH, shell)
}

/** Returns the shell with status 503, because it is not the page of the URL. */
async function storedShell({ pathname }: URL): Promise<Response> {
  const stored = await caches.match(SHELL_PATH, { cacheName: SHELL, ignoreVary: true })
  // The app has no place for a feed or a picture. Any other address may be a mistyped page.
  if (!stored || (!pageAt(pathname) && /\.\w+$/.test(pathname))) return Response.error()
  return new Response(stored.body, { status: 503, headers: stored.headers })
}
