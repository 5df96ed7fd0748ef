import '../ui/base.css'
import { StrictMode, startTransition, useEffect } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { cursorAt, type FirstPage, pageAt } from '../../contract/pages.ts'
import { App } from '../app/app.tsx'
import { loadFirstPage } from '../app/routes.tsx'
import { startApp } from '../app/start-app.ts'
import { currentEntry, isAsOpened, startHistory } from '../history/history.ts'
import { findPlace } from '../history/scroll-places.ts'
import { pageFlags } from '../platform/flags.ts'
import { wantsServiceWorker } from '../platform/page-settings.ts'
import { whenIdle } from '../platform/timing.ts'
import { readLikes } from '../posts/cache/posts.queries.ts'
import { loadViewer, viewer } from '../session/viewer.ts'
import { cacheFirstPage, readFirstPage } from './first-page.ts'

// Removes the handler that before-paint.ts has set for browsers that cannot parse this file.
window.onerror = null

const REGISTER_WITHIN_MS = 5000

const root = document.getElementById('root')
if (!root) throw new Error('No #root')

// A top-level await would split the first visit into many more requests.
const begin = async () => {
  if (!('withResolvers' in Promise && 'any' in AbortSignal)) await import('./missing-functions.ts')
  const first = readFirstPage()
  if (first && isCopy(first)) {
    pageFlags().static = ''
    return
  }
  startHistory()
  registerServiceWorker()
  if (first && beginsAtAnchor(first)) {
    await loadFirstPage(first)
    // If the person went back meanwhile, the address is not that of the served page.
    show(root, isAsOpened() ? first : null)
  } else show(root, null)
}

begin().catch(globalThis.endWait)

/**
 * Returns whether the page is a copy at an address of another site, such as in an archive, of which
 * the app knows no page. It stays as the server has rendered it.
 */
function isCopy({ shows }: FirstPage): boolean {
  return shows !== 'nothing' && shows !== 'own' && pageAt(location.pathname) === null
}

function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator) || !wantsServiceWorker()) return
  const register = () => navigator.serviceWorker.register('/service-worker.js').catch(() => {})
  const registerLater = () => whenIdle(register, REGISTER_WITHIN_MS)
  if (document.readyState === 'complete') registerLater()
  else addEventListener('load', registerLater, { once: true })
}

/** Returns false if the list was left further down, or newer posts have come since. */
function beginsAtAnchor(shown: FirstPage): boolean {
  const left = findPlace(currentEntry().key)?.anchor
  if (!left || !('cursor' in shown)) return true
  const [first] = (shown.shows === 'post' ? shown.replies : shown.posts).posts
  return left.cursor === shown.cursor || left.cursor === (first && cursorAt(first.id))
}

function show(container: HTMLElement, served: FirstPage | null): void {
  const { key: entryKey, pathname } = currentEntry()
  if (served) cacheFirstPage(served, { entryKey, page: pageAt(pathname) })
  // A change of the viewer before the hydration ends would render the page anew.
  const { promise: isShown, resolve: onShown } = Promise.withResolvers<void>()
  loadViewer(isShown)
  startApp()
  // Reads before the list asks for its next page, so that no page is read twice.
  if (served && viewer.get().state !== 'signed-out') readLikes()
  const { href } = location
  // Going back during hydration is no error.
  const onRecoverableError = (error: unknown) => href === location.href && reportError(error)
  const app = <Shown onShown={onShown} />
  // A transition lets the page answer a tap during the first render.
  startTransition(() => {
    if (served) hydrateRoot(container, app, { onRecoverableError })
    else createRoot(container).render(app)
  })
}

function Shown({ onShown }: { onShown: () => void }) {
  useEffect(() => {
    delete pageFlags().static
    delete pageFlags().covered
    onShown()
    globalThis.endWait?.()
  }, [onShown])
  return (
    <StrictMode>
      <App />
    </StrictMode>
  )
}
