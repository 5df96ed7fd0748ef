import { WifiOff } from 'lucide-react'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'
import { useOnline } from '../../browser/online.ts'
import { settings } from '../../browser/page-settings.ts'
import { useFeedKeys } from '../../feed/feed-keys.ts'
import { Banner } from '../../ui/banner.tsx'
import { SkipLink } from '../../ui/skip-link.tsx'
import { useToast } from '../../ui/toaster.tsx'
import { openDialog } from '../../viewer/dialogs.ts'
import { withViewer } from '../../viewer/intents.ts'
import { useViewer } from '../../viewer/viewer.ts'
import styles from './app-shell.module.css'
import { BottomBar } from './bottom-bar.tsx'
import { Header } from './header.tsx'
import { SideRail } from './side-rail.tsx'
import { SiteNotice } from './site-notice.tsx'
import { useOtherTabs } from './use-other-tabs.ts'
import { useWelcome } from './use-welcome.ts'
import { VisitorIntro } from './visitor-intro.tsx'

/** The frame of every page: rail, column with header and content, bottom bar on phones. */
export function AppShell({ children }: { children: ReactNode }) {
  useStartAtTop()
  useClosedSessionToast()
  useFeedKeys()
  useOtherTabs()
  useWelcome()
  const { state } = useViewer()
  return (
    <div className={styles.frame}>
      <SkipLink target="content">К содержанию</SkipLink>
      <SideRail appName={settings().appName} viewerState={state} onNewPost={writePost} />
      <div className={styles.column}>
        <Header />
        <SiteNotice />
        <main id="content" className={styles.content} tabIndex={-1}>
          <VisitorIntro />
          {children}
        </main>
      </div>
      <BottomBar onNewPost={writePost} />
      <div className={styles.notice}>
        <OfflineBanner />
      </div>
    </div>
  )
}

function OfflineBanner() {
  const online = useOnline()
  // Toasts and the end of the page leave room for the banner.
  useLayoutEffect(() => {
    document.documentElement.toggleAttribute('data-notice', !online)
  }, [online])
  return (
    <Banner icon={<WifiOff size={16} aria-hidden />}>
      {!online && 'Нет связи. Читать можно, отправить — позже'}
    </Banner>
  )
}

/** Starts a page that was opened by a link at its top, with the focus on its content. Going back restores the place. */
function useStartAtTop(): void {
  const { key, pathname } = useLocation()
  const type = useNavigationType()
  const last = useRef({ key, pathname })

  useLayoutEffect(() => {
    const { key: lastKey, pathname: lastPathname } = last.current
    last.current = { key, pathname }
    if (key === lastKey || type === 'POP') return
    scrollTo(0, 0)
    if (pathname !== lastPathname) {
      document.getElementById('content')?.focus({ preventScroll: true })
    }
  }, [key, pathname, type])
}

/** Explains why the viewer is suddenly a visitor: the session expired or was closed on another device. */
function useClosedSessionToast(): void {
  const viewer = useViewer()
  const toast = useToast()
  const closed = viewer.state === 'signed-out' && viewer.because === 'session-closed'

  useEffect(() => {
    if (!closed) return
    const link = { label: 'Войти', onSelect: () => openDialog({ name: 'sign-in' }) }
    toast({ text: 'Сессия завершена. Войдите снова', link })
  }, [closed, toast])
}

function writePost(): void {
  void withViewer({ name: 'new-post' })
}
