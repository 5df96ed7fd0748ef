import { cursorIn, markSaved, PATHS, pageAt } from '../../contract/pages.ts'
import { storeAssetsOf } from './stored-assets.ts'

declare const self: ServiceWorkerGlobalScope

const PAGES = 'pages'
const POSTS_AT_MOST = 50
/** After so long a stored page is shown; the one from the network is then stored for the next visit. */
const TIMEOUT_MS = 3000

/**
 * Returns a page from the network. After a failure, a server error or 3 s without an answer, returns the page as it was
 * stored at the last visit; where it never was, waits on and returns the offline page after a failure.
 */
export async function respondWithPage(event: FetchEvent): Promise<Response> {
  const fresh = fetchPage(event)
  event.waitUntil(fresh.catch(() => undefined))
  const first = await Promise.race([fresh.catch(() => 'failed' as const), pause(TIMEOUT_MS)])
  if (first instanceof Response) return first
  const stored = await findStored(new URL(event.request.url))
  if (stored) return stored
  return first === 'failed' ? offlinePage() : fresh.catch(offlinePage)
}

/** Returns the page at a URL as it was stored, marked as such; undefined where it never was. */
async function findStored({ pathname, search }: URL): Promise<Response | undefined> {
  const path = pageAt(pathname)?.path
  const stored = path && (await caches.match(path, { cacheName: PAGES, ignoreVary: true }))
  if (!stored) return undefined
  // Only the beginning of a list is stored, and its address says so.
  if (cursorIn(search) !== null) return Response.redirect(path)
  return new Response(markSaved(await stored.text()), { headers: stored.headers })
}

/** Stores the pages of open tabs. They were loaded before the first worker was there. */
export async function storeOpenPages(): Promise<void> {
  for (const client of await self.clients.matchAll({ type: 'window' })) {
    const url = new URL(client.url)
    if (mayBeStored(url)) await storePage(url, await fetch(url.pathname))
  }
}

/** Returns the HTML of every stored page. */
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
  // Without room for it, the page is shown all the same.
  if (mayBeStored(url)) {
    event.waitUntil(storePage(url, response.clone()).catch(() => undefined))
  }
  return response
}

/** Whether the page at a URL is the same for every visitor. */
function mayBeStored({ pathname, search }: URL): boolean {
  const page = pageAt(pathname)
  const isPublic = page?.name === 'wall' || page?.name === 'post'
  return isPublic && page.path === pathname && search === ''
}

/** Stores a page after its assets, so that a stored page always has them; removes one that is gone. */
async function storePage({ pathname }: URL, response: Response): Promise<void> {
  const cache = await caches.open(PAGES)
  if (response.status === 404) {
    await cache.delete(pathname, { ignoreVary: true })
    return
  }
  // A signed-in user gets a page without content: what a visitor sees there is stored in its place.
  const page = isPrivate(response) ? await fetch(pathname, { credentials: 'omit' }) : response
  if (!isPublicPage(page)) return
  const copy = page.clone()
  await storeAssetsOf(await page.text())
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
  // In the order in which they were stored.
  const posts = (await cache.keys()).filter(({ url }) => new URL(url).pathname !== PATHS.wall)
  const surplus = posts.slice(0, Math.max(0, posts.length - POSTS_AT_MOST))
  await Promise.all(surplus.map((request) => cache.delete(request, { ignoreVary: true })))
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}

const OFFLINE = 'offline'
const OFFLINE_PAGE = '/offline.html'

/** The page that is shown in place of one that cannot be, and what it needs. */
export const OFFLINE_FILES = [OFFLINE_PAGE, '/offline.css', '/offline.js']

/** Stores the offline page as the server has it now. */
export async function storeOfflinePage(): Promise<void> {
  const cache = await caches.open(OFFLINE)
  await cache.addAll(OFFLINE_FILES.map((path) => new Request(path, { cache: 'reload' })))
}

/** Returns the offline page with status 503: the URL it stands at has another page. */
async function offlinePage(): Promise<Response> {
  const stored = await caches.match(OFFLINE_PAGE, { cacheName: OFFLINE, ignoreVary: true })
  if (!stored) return Response.error()
  return new Response(stored.body, { status: 503, headers: stored.headers })
}

/** Returns a file of the offline page from the cache, else from the network. */
export async function respondWithOfflineFile({ request }: FetchEvent): Promise<Response> {
  const stored = await caches.match(request.url, { cacheName: OFFLINE, ignoreVary: true })
  return stored ?? fetch(request)
}
