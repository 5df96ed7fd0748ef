import { StrictMode, startTransition } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { loadFirstPage } from './app/page-parts.ts'
import { loadViewer } from './viewer/viewer.ts'
import './ui/base.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root')

loadFirstPage(location.pathname)
void loadViewer()
// As a transition, so that the first render comes in slices and the page answers a tap meanwhile.
startTransition(() => {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
})
