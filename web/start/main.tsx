import '../ui/base.css'
import { StrictMode, startTransition, useEffect } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { cursorAt, type FirstPage, pageAt } from '../../contract/pages.ts'
import { App } from '../app/app.tsx'
import { loadFirstPage } from '../app/routes.tsx'
import { startApp } from '../app/start-app.ts'
import { currentEntry, isAsOpened, startHistory } from '../history/history.ts'
import { findAnchor } from '../history/scroll-anchors.ts'
import { queryClient } from '../http/query-client.ts'
import { pageFlags } from '../platform/flags.ts'
import { readLikes } from '../posts/cache/posts.queries.ts'
import { loadViewer, viewer } from '../session/viewer.ts'
import { readFirstPage, showFirstPage } from './first-page.ts'
import { registerServiceWorker } from './register-service-worker.ts'

// This browser parses the app's scripts: before-paint.ts need not watch for errors any longer.
window.onerror = null

const root = document.getElementById('root')
if (!root) throw new Error('No #root')

// A module that awaits splits the first visit into many more requests.
const begin = async () => {
  // Only browsers that need it fetch it.
  if (!('withResolvers' in Promise && 'any' in AbortSignal)) await import('./missing-functions.ts')
  startHistory()
  registerServiceWorker()
  // Browsers that cannot install the app never send it.
  addEventListener('beforeinstallprompt', (event) => {
    // No line of the browser's own stands beside ours.
    event.preventDefault()
    import('./offer-install.ts').then(({ offerInstall }) => offerInstall(event), console.error)
  })
  const first = readFirstPage()
  if (first && beginsAtAnchor(first)) {
    await loadFirstPage(first)
    // Somebody who went back meanwhile has another address than the page they see.
    show(root, isAsOpened() ? first : null)
  } else show(root, null)
}

// If anything fails, the page stays as it came: readable, and with links that work.
begin().catch(globalThis.endWait)

/** A list begins elsewhere if its entry was left further down, or before newer posts came. */
function beginsAtAnchor(shown: FirstPage): boolean {
  const left = findAnchor(currentEntry().key)
  if (left === undefined || !('cursor' in shown)) return true
  const [first] = (shown.shows === 'post' ? shown.replies : shown.posts).posts
  return left.cursor === shown.cursor || left.cursor === (first && cursorAt(first.id))
}

/** Takes over the page that was served, or renders it. */
function show(container: HTMLElement, served: FirstPage | null): void {
  const { key: entryKey, pathname } = currentEntry()
  if (served) showFirstPage(queryClient, served, { entryKey, page: pageAt(pathname) })
  // A change before React has taken the page over would render it anew.
  const { promise: isShown, resolve: onShown } = Promise.withResolvers<void>()
  loadViewer(isShown)
  startApp(queryClient)
  // Before the list asks for its next page, so that no page is read twice.
  if (served && viewer.get().state !== 'signed-out') readLikes(queryClient)
  const { href } = location
  // React renders the page anew for somebody who goes back during the first render.
  const onRecoverableError = (error: unknown) => href === location.href && reportError(error)
  const app = <Shown onShown={onShown} />
  // A transition renders in slices, so that the page answers a tap during the first render.
  startTransition(() => {
    if (served && !served.plain) hydrateRoot(container, app, { onRecoverableError })
    else createRoot(container).render(app)
  })
}

function Shown({ onShown }: { onShown: () => void }) {
  useEffect(() => {
    delete pageFlags().static
    // What is hidden is left out of the page when the effects have run.
    delete pageFlags().covered
    onShown()
    globalThis.endWait?.()
  }, [onShown])
  return (
    <StrictMode>
      <App client={queryClient} />
    </StrictMode>
  )
}
