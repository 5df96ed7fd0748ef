import { QueryClientProvider } from '@tanstack/react-query'
import { HistoryProvider } from '../history/entry.tsx'
import type { Entry } from '../history/history.ts'
import { queryClient } from '../http/query-client.ts'
import { reloadIfPossible } from '../platform/lazy-chunk.ts'
import { ToastRegion } from '../ui/overlay/toaster.tsx'
import { ErrorBoundary } from '../ui/states/error-boundary.tsx'
import { Dialogs } from './dialogs.tsx'
import { AppRoutes, PageFailure } from './routes.tsx'
import { AppShell } from './shell/app-shell.tsx'

type AppProps = {
  /** The history entry to render on the server. Default: the browser's current one. */
  entry?: Entry
}

export function App({ entry }: AppProps) {
  return (
    <ErrorBoundary fallback={<PageFailure onRetry={reloadIfPossible} />}>
      <QueryClientProvider client={queryClient}>
        <HistoryProvider {...(entry && { entry })}>
          <AppShell>
            <AppRoutes />
          </AppShell>
          <ErrorBoundary>
            <Dialogs />
          </ErrorBoundary>
          <ErrorBoundary>
            <ToastRegion />
          </ErrorBoundary>
        </HistoryProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  )
}
