declare const MAIN: string
declare const PRELOADED: string[]

// This script ends a rendered page, and fetches the app's scripts when the browser has painted it:
// before, they would compete with the page on a slow line. A hidden page, which is never painted,
// gets them after a while.
const LATEST_MS = 1500
let hasBegun = false

function load(): void {
  if (hasBegun) return
  hasBegun = true
  for (const href of PRELOADED) add('link', { rel: 'modulepreload', crossOrigin: '', href })
  add('script', { type: 'module', crossOrigin: '', src: MAIN })
}

function add(name: string, attributes: Record<string, string>): void {
  document.head.append(Object.assign(document.createElement(name), attributes))
}

try {
  new PerformanceObserver(load).observe({ type: 'paint', buffered: true })
} catch {}
setTimeout(load, LATEST_MS)
