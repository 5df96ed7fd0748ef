import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Toaster, ToastRegion } from '../ui/toaster.tsx'
import { Dialogs, PreloadChunks } from './dialogs.tsx'
import { ReportOutcomes } from './report-outcomes.tsx'
import { ResumeIntent } from './resume-intent.tsx'
import { AppRoutes } from './router.tsx'
import { AppShell } from './shell/app-shell.tsx'

type AppProps = {
  client: QueryClient
  /** Wraps the app with a router: the browser's, or one at a path on the server. */
  router: (app: ReactNode) => ReactNode
}

/** The whole web app. */
export function App({ client, router }: AppProps) {
  return (
    <QueryClientProvider client={client}>
      {router(
        <Toaster>
          <AppShell>
            <AppRoutes />
          </AppShell>
          <Dialogs />
          <ResumeIntent />
          <PreloadChunks />
          <ReportOutcomes />
          <ToastRegion />
        </Toaster>,
      )}
    </QueryClientProvider>
  )
}
