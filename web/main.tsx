import { StrictMode, startTransition, useEffect, useLayoutEffect, useState } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { type FirstPage, pageAt } from '../contract/pages.ts'
import { queryClient } from './api/query-client.ts'
import { App } from './app/app.tsx'
import { readFirstPage, showFirstPage } from './app/first-page.ts'
import { loadFirstPage } from './app/router.tsx'
import { watchFailedStyles } from './browser/lazy-chunk.ts'
import { registerServiceWorker } from './browser/register-service-worker.ts'
import {
  currentEntryKey,
  findAnchor,
  isAsOpened,
  nameFirstEntry,
} from './browser/scroll-anchors.ts'
import { readLikes } from './posts/cache/list-cache.ts'
import { assumeVisitor, knownViewer, loadViewer } from './viewer/viewer.ts'
import './ui/base.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root')

const app = (
  <StrictMode>
    <App client={queryClient} router={(children) => <BrowserRouter>{children}</BrowserRouter>} />
  </StrictMode>
)
watchFailedStyles()
nameFirstEntry()
const first = readFirstPage()
// A module that awaits splits the first visit into many more requests. If a script of the page
// cannot be loaded, the page stays as it came: readable, and with links that work.
if (first && beginsAtAnchor(first))
  loadFirstPage(first).then(
    // Somebody who went back meanwhile has another address than the page they see.
    () => (isAsOpened() ? hydrate(root, first) : render(root)),
    console.error,
  )
else render(root)
registerServiceWorker()

function render(container: HTMLElement): void {
  void loadViewer()
  // A transition renders in slices, so that the page answers a tap during the first render.
  startTransition(() => createRoot(container).render(<Rendered />))
}

/** A list begins elsewhere if its entry was left further down than the rendered page. */
function beginsAtAnchor(shown: FirstPage): boolean {
  const left = findAnchor(currentEntryKey())?.cursors.at(-1)
  return left === undefined || !('cursor' in shown) || left === shown.cursor
}

function hydrate(container: HTMLElement, shown: FirstPage): void {
  const entryKey = currentEntryKey()
  showFirstPage(queryClient, shown, { entryKey, page: pageAt(location.pathname) })
  assumeVisitor()
  const { promise: isShown, resolve: onShown } = Promise.withResolvers<void>()
  void loadViewer(isShown)
  void knownViewer().then(({ state }) => state === 'authorized' && readLikes(queryClient))
  const { href } = location
  // React renders the page anew for somebody who goes back during the first render.
  const onRecoverableError = (error: unknown) => href === location.href && reportError(error)
  startTransition(
    () => void hydrateRoot(container, <Hydrated onShown={onShown} />, { onRecoverableError }),
  )
}

/** A change before React has taken the page over would render it anew. */
function Hydrated({ onShown }: { onShown: () => void }) {
  useEffect(onShown, [onShown])
  return <Rendered />
}

function Rendered() {
  const [href] = useState(() => location.href)
  useLayoutEffect(() => {
    // The router listens from now on: it has missed a step through the history until now.
    if (location.href !== href) dispatchEvent(new PopStateEvent('popstate', history))
    document.documentElement.removeAttribute('data-static')
    document.documentElement.removeAttribute('data-returning')
  }, [href])
  return app
}
