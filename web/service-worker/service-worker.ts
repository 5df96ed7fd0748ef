import { removeOldAssets, respondWithAsset } from './stored-assets.ts'
import { readStoredPages, respondWithPage, storeOpenPages, storeShell } from './stored-pages.ts'

declare const self: ServiceWorkerGlobalScope

// Without skipWaiting(), the new worker waits for tabs that need assets of a former build.
self.addEventListener('install', (event) => event.waitUntil(storeShell()))

self.addEventListener('activate', (event) => event.waitUntil(activate()))

self.addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request
  const { origin, pathname } = new URL(url)
  if (method !== 'GET' || origin !== self.location.origin || pathname.startsWith('/api/')) return
  if (mode === 'navigate') event.respondWith(respondWithPage(event))
  else if (pathname.startsWith('/assets/')) {
    // Falls back on the network, because a broken cache storage rejects every access.
    event.respondWith(respondWithAsset(event).catch(() => fetch(event.request)))
  }
})

async function activate(): Promise<void> {
  // With navigation preload, the browser requests a page while the worker still starts.
  await self.registration.navigationPreload?.enable()
  await removeOldAssets(await readStoredPages())
  await self.clients.claim()
  // Navigations wait until the worker is active, so they must not wait for this.
  void storeOpenPages().catch(() => undefined)
}
