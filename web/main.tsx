import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { preloadFirstPage } from './app/router.tsx'
import { loadViewer } from './viewer/viewer.ts'
import './ui/base.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root')

preloadFirstPage(location.pathname)
void loadViewer()
// As a transition, which renders in slices, so that the page answers a tap during the first render.
startTransition(() => {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
})
