import { AppShell } from './app-shell.tsx'
import { Dialogs } from './dialogs.tsx'
import { FetchAhead } from './fetch-ahead.tsx'
import { Providers } from './providers.tsx'
import { ResumeIntent } from './resume-intent.tsx'
import { AppRoutes } from './router.tsx'

/** The whole web app. */
export function App() {
  return (
    <Providers>
      <AppShell>
        <AppRoutes />
      </AppShell>
      <Dialogs />
      <ResumeIntent />
      <FetchAhead />
    </Providers>
  )
}
