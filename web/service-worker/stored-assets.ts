/** The paths of the build's assets, which the build writes in place of this name. */
declare const BUILD_ASSETS: string[]

const CACHE = 'assets'
/** The most stored assets, of some six builds: a tab that stays open needs those of old builds. */
const ASSETS_AT_MOST = 400
const ASSET_PATH = /\/assets\/[\w.-]+/g

/** Responds with the stored asset, which never changes, because its name contains a hash. */
export async function respondWithAsset(event: FetchEvent): Promise<Response> {
  const cache = await caches.open(CACHE)
  const stored = await cache.match(event.request.url, { ignoreVary: true })
  if (stored) return stored
  const response = await fetch(event.request)
  if (response.ok) {
    // An asset for which there is no room is still used.
    event.waitUntil(storeAsset(cache, event.request.url, response.clone()).catch(() => undefined))
  }
  return response
}

/** Stores the assets of a page, which has just loaded them into the browser's HTTP cache. */
export async function storeAssetsOf(html: string): Promise<void> {
  const cache = await caches.open(CACHE)
  const own = new Set(BUILD_ASSETS)
  const named = new Set(assetsIn(html).filter((path) => own.has(path)))
  await Promise.all(
    [...named].map(async (path) => {
      if (!(await cache.match(path, { ignoreVary: true }))) await cache.add(path)
    }),
  )
}

export async function removeOldAssets(pages: string[]): Promise<void> {
  const cache = await caches.open(CACHE)
  const used = new Set([...BUILD_ASSETS, ...pages.flatMap(assetsIn)])
  for (const { url } of await cache.keys()) {
    if (!used.has(new URL(url).pathname)) await cache.delete(url, { ignoreVary: true })
  }
}

function assetsIn(html: string): string[] {
  return html.match(ASSET_PATH) ?? []
}

async function storeAsset(cache: Cache, url: string, response: Response): Promise<void> {
  await cache.put(url, response)
  const all = await cache.keys()
  const surplus = all.slice(0, Math.max(0, all.length - ASSETS_AT_MOST))
  await Promise.all(surplus.map((request) => cache.delete(request, { ignoreVary: true })))
}
