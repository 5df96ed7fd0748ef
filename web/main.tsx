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
// Not awaited: a module that awaits splits the first visit into many more requests.
// Where a script of the page cannot be had, it stays as it came: readable, and with links that work.
if (first && beginsAtAnchor(first))
  loadFirstPage(first).then(
    // One who went back meanwhile has another address than the page they see.
    () => (isAsOpened() ? hydrate(root, first) : render(root)),
    console.error,
  )
else render(root)
registerServiceWorker()

/** Renders the whole page in the browser. */
function render(container: HTMLElement): void {
  void loadViewer()
  // As a transition, which renders in slices, so that the page answers a tap during the first render.
  startTransition(() => createRoot(container).render(<Rendered />))
}

/** Whether the list of a rendered page begins where its visit was left, as it does unless that was further down. */
function beginsAtAnchor(shown: FirstPage): boolean {
  const left = findAnchor(currentEntryKey())?.cursors.at(-1)
  return left === undefined || !('cursor' in shown) || left === shown.cursor
}

/** Takes over the page that the server has rendered. */
function hydrate(container: HTMLElement, shown: FirstPage): void {
  const entryKey = currentEntryKey()
  showFirstPage(queryClient, shown, { entryKey, page: pageAt(location.pathname) })
  assumeVisitor()
  const { promise: isShown, resolve: onShown } = Promise.withResolvers<void>()
  void loadViewer(isShown)
  void knownViewer().then(({ state }) => state === 'authorized' && readLikes(queryClient))
  const { href } = location
  // One who goes back during the first render gets another page than the rendered one: React renders it anew.
  const onRecoverableError = (error: unknown) => href === location.href && reportError(error)
  startTransition(
    () => void hydrateRoot(container, <Hydrated onShown={onShown} />, { onRecoverableError }),
  )
}

/** The app, which says when React has taken the page over: changes before that would render it anew. */
function Hydrated({ onShown }: { onShown: () => void }) {
  useEffect(onShown, [onShown])
  return <Rendered />
}

/** The app, and the marks of a page without scripts, which it removes. */
function Rendered() {
  const [href] = useState(() => location.href)
  useLayoutEffect(() => {
    // The router listens from now on: it has missed a step through the history that was taken during the first render.
    if (location.href !== href) dispatchEvent(new PopStateEvent('popstate', history))
    document.documentElement.removeAttribute('data-static')
    document.documentElement.removeAttribute('data-returning')
  }, [href])
  return app
}
