import { QueryClientProvider } from '@tanstack/react-query'
import { BrowserRouter } from 'react-router'
import { queryClient } from '../api/query-client.ts'
import { Toaster } from '../ui/toaster.tsx'
import { Dialogs, PreloadDialogs } from './dialogs.tsx'
import { ResumeIntent } from './resume-intent.tsx'
import { AppRoutes } from './router.tsx'
import { AppShell } from './shell/app-shell.tsx'

/** The whole web app. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <BrowserRouter>
        <Toaster>
          <AppShell>
            <AppRoutes />
          </AppShell>
          <Dialogs />
          <ResumeIntent />
          <PreloadDialogs />
        </Toaster>
      </BrowserRouter>
    </QueryClientProvider>
  )
}
