import { WifiOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { useLayoutEffect } from 'react'
import { useOnline } from '../browser/online.ts'
import { settings } from '../browser/page-settings.ts'
import { useFeedKeys } from '../feed/feed-keys.ts'
import { Banner } from '../ui/banner.tsx'
import { withViewer } from '../viewer/intents.ts'
import { useViewer } from '../viewer/viewer.ts'
import { PageHeader } from './page-header.tsx'
import { BottomBar } from './shell/bottom-bar.tsx'
import { Shell } from './shell/shell.tsx'
import { SideRail } from './shell/side-rail.tsx'
import { useArrival } from './use-arrival.ts'
import { useClosedSessionNotice } from './use-closed-session-notice.ts'

/** The frame around every page, filled with who is looking and where they are. */
export function AppShell({ children }: { children: ReactNode }) {
  useArrival()
  useClosedSessionNotice()
  useFeedKeys()
  const { state } = useViewer()
  return (
    <Shell
      rail={<SideRail appName={settings().appName} viewerState={state} onNewPost={writePost} />}
      header={<PageHeader />}
      bar={<BottomBar onNewPost={writePost} />}
      banner={<OfflineBanner />}
    >
      {children}
    </Shell>
  )
}

function OfflineBanner() {
  const online = useOnline()
  // Toasts and the end of the page make room for it.
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-notice', !online)
  }, [online])
  return (
    <Banner icon={<WifiOff size={16} aria-hidden />}>
      {!online && 'Нет связи. Отправить не получится, пока она не вернётся'}
    </Banner>
  )
}

function writePost(): void {
  void withViewer({ name: 'new-post' })
}
