import { removeOldAssets, respondWithAsset } from './stored-assets.ts'
import {
  OFFLINE_FILES,
  readStoredPages,
  respondWithOfflineFile,
  respondWithPage,
  storeOfflinePage,
  storeOpenPages,
} from './stored-pages.ts'

declare const self: ServiceWorkerGlobalScope

// There is no skipWaiting() here: the worker of a new build becomes active, and removes the assets of former builds, when
// no tab is left that one of those builds may still need them for.
self.addEventListener('install', (event) => event.waitUntil(storeOfflinePage()))

self.addEventListener('activate', (event) => event.waitUntil(activate()))

// Everything else, the API above all, goes to the network as if there were no worker.
self.addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request
  const { origin, pathname } = new URL(url)
  if (method !== 'GET' || origin !== self.location.origin || pathname.startsWith('/api/')) return
  if (mode === 'navigate') event.respondWith(respondWithPage(event))
  else if (pathname.startsWith('/assets/')) event.respondWith(respondWithAsset(event))
  else if (OFFLINE_FILES.includes(pathname)) event.respondWith(respondWithOfflineFile(event))
})

async function activate(): Promise<void> {
  // The request for a page then leaves while the worker still starts, and with the headers that it has without a worker.
  await self.registration.navigationPreload?.enable()
  await removeOldAssets(await readStoredPages())
  await self.clients.claim()
  // Navigations wait until the worker is active, so they must not wait for this.
  void storeOpenPages().catch(() => undefined)
}
