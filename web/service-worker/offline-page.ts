const CACHE = 'offline'
const PAGE = '/offline.html'

/** The page that is shown in place of one that cannot be, and what it needs. */
export const OFFLINE_FILES = [PAGE, '/offline.css', '/offline.js']

/** Stores the offline page as the server has it now. */
export async function storeOfflinePage(): Promise<void> {
  const cache = await caches.open(CACHE)
  await cache.addAll(OFFLINE_FILES.map((path) => new Request(path, { cache: 'reload' })))
}

/** Returns the offline page with status 503: the URL it stands at has another page. */
export async function offlinePage(): Promise<Response> {
  const stored = await caches.match(PAGE, { cacheName: CACHE, ignoreVary: true })
  if (!stored) return Response.error()
  return new Response(stored.body, { status: 503, headers: stored.headers })
}

/** Returns a file of the offline page from the cache, else from the network. */
export async function respondWithOfflineFile({ request }: FetchEvent): Promise<Response> {
  const stored = await caches.match(request.url, { cacheName: CACHE, ignoreVary: true })
  return stored ?? fetch(request)
}
