declare const MAIN: string
declare const PRELOADED: string[]

// The script at the end of a rendered page. It fetches the app's scripts when the browser has painted the page, since they
// would compete with it on a slow line; after 1.5 s at the latest, which is also when a page that is not visible gets them.
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
