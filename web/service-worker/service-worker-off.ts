declare const self: ServiceWorkerGlobalScope

// The server sends this script in place of the service worker where SERVICE_WORKER is off. It replaces the worker at once,
// handles no request, and leaves nothing behind.
self.addEventListener('install', () => void self.skipWaiting())

self.addEventListener('activate', (event) => event.waitUntil(removeEverything()))

async function removeEverything(): Promise<void> {
  await Promise.all((await caches.keys()).map((name) => caches.delete(name)))
  await self.registration.unregister()
}

export {}
