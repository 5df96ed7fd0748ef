import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { loadViewer } from './lib/viewer.ts'
import './ui/base.css'

const root = document.getElementById('root')
if (!root) throw new Error('The page has no #root')

void loadViewer()
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
