import type { MouseEvent, ReactNode } from 'react'
import { useFeedKeys } from '../../feed/feed-keys.ts'
import { CONTENT } from '../../history/entry.tsx'
import { openedDialog } from '../../history/history.ts'
import { useAtom } from '../../platform/atom.ts'
import { pageFlags } from '../../platform/flags.ts'
import { createLazyChunk } from '../../platform/lazy-chunk.ts'
import { settings } from '../../platform/page-settings.ts'
import { buttonClass } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { ErrorBoundary } from '../../ui/states/error-boundary.tsx'
import { Lazy } from '../../ui/states/lazy.tsx'
import { ConnectionBanner } from '../notices/connection-banner.tsx'
import { SiteNotice } from '../notices/site-notice.tsx'
import { EndNotice, OperatorNotice, VisitorIntro } from '../notices/strips.tsx'
import styles from './app-shell.module.css'
import { Header } from './header.tsx'
import { BottomBar, SideRail } from './navigation.tsx'
import { SideInfo } from './side-info.tsx'

export function AppShell({ children }: { children: ReactNode }) {
  useFeedKeys()
  return (
    <div className={styles.frame}>
      <SkipLink />
      <ErrorBoundary>
        <SideRail appName={settings().appName} />
      </ErrorBoundary>
      <div className={styles.column}>
        <ErrorBoundary>
          <Header />
          <CodeRoom />
          <SiteNotice />
          <EndNotice />
          <OperatorNotice />
        </ErrorBoundary>
        <main id={CONTENT} className={styles.content} tabIndex={-1}>
          <VisitorIntro />
          {children}
        </main>
      </div>
      <ErrorBoundary>
        <SideInfo />
        <BottomBar />
        <div className={classes('unprinted', styles.notice)}>
          <ConnectionBanner />
        </div>
      </ErrorBoundary>
    </div>
  )
}

/** Renders the first stop of the Tab key, which jumps over the navigation to the content. */
function SkipLink() {
  function jump(event: MouseEvent): void {
    // Following the link would add a history entry, so that «Назад» would stay on this page.
    event.preventDefault()
    document.getElementById(CONTENT)?.focus()
  }

  return (
    <a
      className={classes(buttonClass({ variant: 'strong' }), styles.skip)}
      href={`#${CONTENT}`}
      onClick={jump}
    >
      К содержанию
    </a>
  )
}

const codeLine = createLazyChunk(() => import('../../sign-in/code-line.tsx'), 'CodeLine')
/** The flag is read again when a dialog opens or closes, because the sign-in dialog changes it. */
const codeSent = { get: () => 'codeSent' in pageFlags(), subscribe: openedDialog.subscribe }

/** Shows the line about a mailed code. Reserves its height while its chunk loads. */
function CodeRoom() {
  const isSent = useAtom(codeSent, false)
  return <div className={styles.code}>{isSent && <Lazy chunk={codeLine} props={{}} />}</div>
}
