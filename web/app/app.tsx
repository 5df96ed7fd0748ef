import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { reloadIfPossible } from '../browser/lazy-chunk.ts'
import { Toaster, ToastRegion } from '../ui/toaster.tsx'
import { Dialogs, PreloadChunks } from './dialogs.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { ReportOutcomes } from './report-outcomes.tsx'
import { ResumeIntent } from './resume-intent.tsx'
import { AppRoutes, PageFailure } from './router.tsx'
import { AppShell } from './shell/app-shell.tsx'

type AppProps = {
  client: QueryClient
  /** Wraps the app with a router: the browser's, or one at a path on the server. */
  router: (app: ReactNode) => ReactNode
}

/** A part that fails takes away no more than itself. */
export function App({ client, router }: AppProps) {
  return (
    <ErrorBoundary fallback={<PageFailure onRetry={reloadIfPossible} />}>
      <QueryClientProvider client={client}>
        {router(
          <Toaster>
            <AppShell>
              <AppRoutes />
            </AppShell>
            <ErrorBoundary>
              <Dialogs />
              <ResumeIntent />
              <PreloadChunks />
              <ReportOutcomes />
            </ErrorBoundary>
            <ErrorBoundary>
              <ToastRegion />
            </ErrorBoundary>
          </Toaster>,
        )}
      </QueryClientProvider>
    </ErrorBoundary>
  )
}
