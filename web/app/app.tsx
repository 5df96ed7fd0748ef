import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { HistoryProvider } from '../history/entry.tsx'
import type { Entry } from '../history/history.ts'
import { Link } from '../history/link.tsx'
import { reloadIfPossible } from '../platform/lazy-chunk.ts'
import { ErrorBoundary } from '../ui/error-boundary.tsx'
import { PageLinkContext, ToastRegion } from '../ui/toaster.tsx'
import { Dialogs } from './dialogs.tsx'
import { AppRoutes, PageFailure } from './routes.tsx'
import { AppShell } from './shell/app-shell.tsx'

type AppProps = {
  client: QueryClient
  /** The entry of the history on the server; in the browser it is the current one. */
  entry?: Entry
}

/** A part that fails takes away no more than itself. */
export function App({ client, entry }: AppProps) {
  return (
    <ErrorBoundary fallback={<PageFailure onRetry={reloadIfPossible} />}>
      <QueryClientProvider client={client}>
        <HistoryProvider {...(entry && { entry })}>
          <PageLinkContext value={Link}>
            <AppShell>
              <AppRoutes />
            </AppShell>
            <ErrorBoundary>
              <Dialogs />
            </ErrorBoundary>
            <ErrorBoundary>
              <ToastRegion />
            </ErrorBoundary>
          </PageLinkContext>
        </HistoryProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  )
}
