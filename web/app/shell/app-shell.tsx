import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { type MouseEvent, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { PATHS } from '../../../contract/pages.ts'
import { useFeedKeys } from '../../feed/feed-keys.ts'
import { useEntry } from '../../history/entry.tsx'
import { CONTENT, focusContent } from '../../history/focus-content.ts'
import { openDialog } from '../../history/history.ts'
import { evictPost, forgetViewer } from '../../posts/cache/list-cache.ts'
import { putPosts, readCachedPost, setLikes } from '../../posts/cache/post-cache.ts'
import { onPostChange, type PostChange } from '../../posts/cache/post-channel.ts'
import { resumeIntents, withViewer } from '../../session/intents.ts'
import { settings } from '../../session/page-settings.ts'
import { onOtherViewer, useViewer } from '../../session/viewer.ts'
import { takeArrival } from '../../sign-in/arrival.ts'
import { ErrorBoundary } from '../../ui/error-boundary.tsx'
import { toast } from '../../ui/toaster.tsx'
import { performIntent } from '../perform-intent.ts'
import styles from './app-shell.module.css'
import { ConnectionBanner } from './connection-banner.tsx'
import { Header } from './header.tsx'
import { BottomBar, SideRail } from './navigation.tsx'
import { OperatorNotice } from './operator-notice.tsx'
import { SideInfo } from './side-info.tsx'
import { SiteNotice } from './site-notice.tsx'
import { VisitorIntro } from './visitor-intro.tsx'

/** The frame of every page: rail, column with header and content, what stands beside it, bottom bar on phones. */
export function AppShell({ children }: { children: ReactNode }) {
  useStartAtTop()
  useClosedSessionToast()
  useFeedKeys()
  useOtherTabs()
  useWelcome()
  useEffect(() => void resumeIntents(performIntent), [])
  return (
    <div className={styles.frame}>
      <SkipLink />
      <ErrorBoundary>
        <SideRail appName={settings().appName} onNewPost={writePost} />
      </ErrorBoundary>
      <div className={styles.column}>
        <ErrorBoundary>
          <Header />
          <SiteNotice />
          <OperatorNotice />
        </ErrorBoundary>
        <main id={CONTENT} className={styles.content} tabIndex={-1}>
          <VisitorIntro />
          {children}
        </main>
      </div>
      <ErrorBoundary>
        <SideInfo />
        <BottomBar onNewPost={writePost} />
        <div className={styles.notice}>
          <ConnectionBanner />
        </div>
      </ErrorBoundary>
    </div>
  )
}

/** A page that was opened by a link starts at its top, with the focus on its content. */
function useStartAtTop(): void {
  const { key, pathname, isReturn } = useEntry()
  const last = useRef({ key, pathname })

  useLayoutEffect(() => {
    const { key: lastKey, pathname: lastPathname } = last.current
    last.current = { key, pathname }
    if (key === lastKey || isReturn) return
    scrollTo(0, 0)
    if (pathname !== lastPathname) focusContent()
  }, [key, pathname, isReturn])
}

/** The session expired or was closed. */
function useClosedSessionToast(): void {
  const viewer = useViewer()
  const because = viewer.state === 'signed-out' ? viewer.because : undefined

  useEffect(() => {
    if (!because) return
    const onSelect = () => openDialog({ name: 'sign-in' })
    // A dialog whose text could not be sent has the button too.
    const link = { label: 'Войти', onSelect, pageOnly: true }
    const { code, message } = because
    const text = code === 'SESSION_CLOSED' ? message : 'Сессия завершена. Войдите снова'
    toast({ text, link })
  }, [because])
}

function writePost(): void {
  void withViewer({ name: 'new-post' })
}

/** The first stop of the Tab key: jumps over the navigation to the content. */
function SkipLink() {
  function jump(event: MouseEvent): void {
    // The URL would add a history entry before the page one goes back to.
    event.preventDefault()
    document.getElementById(CONTENT)?.focus()
  }

  return (
    <a className={styles.skip} href={`#${CONTENT}`} onClick={jump}>
      К содержанию
    </a>
  )
}

/** Shows what the viewer does in other tabs, and forgets a viewer who has signed out there. */
function useOtherTabs(): void {
  const client = useQueryClient()
  useEffect(() => onPostChange((change) => showChange(client, change)), [client])
  useEffect(() => onOtherViewer(() => forgetViewer(client)), [client])
}

function showChange(client: QueryClient, change: PostChange): void {
  const id = change.name === 'edited' ? change.post.id : change.postId
  // A post that this page has not read yet will be read as it is by then.
  if (!readCachedPost(client, id)) return
  if (change.name === 'liked') setLikes(client, id, change.likes)
  else if (change.name === 'edited') putPosts(client, [change.post])
  // A tab of a newer release may send changes that this one does not know.
  else if (change.name === 'deleted') evictPost(client, id)
}

function useWelcome(): void {
  const viewer = useViewer()
  const username = viewer.state === 'authorized' ? viewer.user.username : undefined

  useEffect(() => {
    const arrival = username !== undefined && takeArrival()
    if (!arrival) return
    if (arrival === 'returned') toast({ text: 'С возвращением' })
    else {
      const link = { label: 'Выбрать имя', to: PATHS.username }
      toast({ text: `Теперь вы ${username}`, link })
    }
  }, [username])
}
