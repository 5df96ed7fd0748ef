import { type ComponentType, Fragment, type ReactNode, ViewTransition } from 'react'
import { type FirstPage, isForUsers, type Page } from '../../contract/pages.ts'
import { PAGE_FADE, useEntry, usePage } from '../history/entry.tsx'
import { errorMessage } from '../http/error-message.ts'
import { PostPage } from '../pages/post-page.tsx'
import type { SettingsPageName } from '../pages/settings.tsx'
import { WallPage } from '../pages/wall.tsx'
import { useHydrated } from '../platform/atom.ts'
import { createLazyChunk, type LazyChunk, reloadIfPossible } from '../platform/lazy-chunk.ts'
import { isKnown, useLastUser, useViewer, viewerForAction } from '../session/viewer.ts'
import { ErrorBoundary } from '../ui/states/error-boundary.tsx'
import { ErrorPage, ErrorRow } from '../ui/states/errors.tsx'
import { Lazy } from '../ui/states/lazy.tsx'
import { Loading } from '../ui/states/spinner.tsx'

const search = createLazyChunk(() => import('../pages/search.tsx'), 'SearchPage')
const text = createLazyChunk(() => import('../pages/text-page.tsx'), 'TextPage')
const author = createLazyChunk(() => import('../pages/author.tsx'), 'AuthorPage')
const settings = createLazyChunk(() => import('../pages/settings.tsx'), 'SettingsPage')
const notFound = createLazyChunk(() => import('../pages/not-found.tsx'), 'NotFoundPage')
const importFeeds = () => import('../pages/viewer-feeds.tsx')
const importReports = () => import('../moderation/outcomes/own-reports.tsx')
const importQueue = () => import('../moderation/queue/moderation-queue.tsx')
const importMailedLinks = () => import('../pages/mailed-links.tsx')

type LazyPageName = Exclude<Page['name'], 'wall' | 'post' | SettingsPageName>

/**
 * The lazy pages, without those of settings.tsx. The wall and posts are in the first chunk, so that a
 * post opens at once.
 */
const PAGES: Record<LazyPageName, LazyChunk<ComponentType>> = {
  liked: createLazyChunk(importFeeds, 'LikedPage'),
  ownPosts: createLazyChunk(importFeeds, 'OwnPostsPage'),
  ownReplies: createLazyChunk(importFeeds, 'OwnRepliesPage'),
  received: createLazyChunk(importFeeds, 'ReceivedPage'),
  search,
  searchOwn: search,
  searchLiked: search,
  reports: createLazyChunk(importReports, 'OwnReports'),
  hidden: createLazyChunk(() => import('../pages/settings-hidden.tsx'), 'SettingsHiddenPage'),
  passkeys: createLazyChunk(() => import('../passkeys/passkeys.tsx'), 'PasskeysPage'),
  moderation: createLazyChunk(importQueue, 'ModerationQueue'),
  emailUndo: createLazyChunk(importMailedLinks, 'EmailUndoPage'),
  passkeyUndo: createLazyChunk(importMailedLinks, 'PasskeyUndoPage'),
  invitation: createLazyChunk(importMailedLinks, 'InvitationPage'),
  replyMails: createLazyChunk(importMailedLinks, 'ReplyMailsPage'),
  author,
  authorReplies: author,
  about: text,
  rules: text,
  privacy: text,
  consent: text,
  contacts: text,
}

/** The class of a page (base.css) by the type of a transition. Other transitions fade nothing. */
const FADE = { [PAGE_FADE]: 'page', default: 'none' }

export function AppRoutes() {
  return (
    <ViewTransition key={useEntry().pathname} default="none" enter={FADE} exit={FADE}>
      <ErrorBoundary fallback={<PageFailure onRetry={reloadIfPossible} />}>
        <CurrentPage />
      </ErrorBoundary>
    </ViewTransition>
  )
}

function CurrentPage() {
  const page = usePage()
  if (page === null) return <LazyPage chunk={notFound} />
  if (page.name === 'wall') return <WallPage />
  if (page.name === 'post') return <PostPage />
  const shown = <LazyPage chunk={isListed(page.name) ? PAGES[page.name] : settings} />
  if (page.name === 'moderation') {
    return <SecuredRoute otherwise={<LazyPage chunk={notFound} />}>{shown}</SecuredRoute>
  }
  return isForUsers(page) ? <SecuredRoute>{shown}</SecuredRoute> : shown
}

function isListed(name: Page['name']): name is LazyPageName {
  return name in PAGES
}

type SecuredRouteProps = {
  children: ReactNode
  /** Shown to users who are not moderators; if absent, the page is for all users. */
  otherwise?: ReactNode
}

/**
 * Shows a page to users. Mounts it anew for another user. It stays when the session ends by itself,
 * until guard-pages.ts leaves it.
 */
function SecuredRoute({ children, otherwise }: SecuredRouteProps) {
  const viewer = useViewer()
  const user = useLastUser()
  const isHydrated = useHydrated()
  if (user && (!otherwise || user.isModerator)) {
    return <Fragment key={user.id}>{children}</Fragment>
  }
  if (isKnown(viewer) && otherwise) return otherwise
  if (viewer.state === 'no-answer') {
    return <ErrorRow text={errorMessage(viewer.error)} onRetry={viewerForAction} />
  }
  // The spinner has style attributes, which a page rendered by the server must not have.
  return isHydrated && <Loading label="Загружаем страницу" />
}

/** Loads the lazy chunk of a page that the server rendered, before it is hydrated. May reject. */
export async function loadFirstPage({ shows }: Pick<FirstPage, 'shows'>): Promise<void> {
  if (shows === 'nothing') await notFound.load()
  if (shows === 'text') await text.load()
  if (shows === 'author' || shows === 'missing author') await author.load()
  if (shows === 'search') await PAGES.search.load()
  if (shows === 'reply mails') await PAGES.replyMails.load()
}

export async function preloadViewerPages(): Promise<void> {
  await PAGES.liked.preload()
  await settings.preload()
}

/** Shows a lazy page. If its chunk fails to load, a button or opening the page again retries. */
function LazyPage({ chunk }: { chunk: LazyChunk<ComponentType> }) {
  async function loadAgain(showPage: () => void): Promise<void> {
    const hasFailedItself = chunk.content() !== undefined
    await chunk.load().catch(console.error)
    // Reloads if the page itself threw, or if the chunk failed again: some browsers remember that a
    // script failed, and a release may have removed it.
    if (!hasFailedItself && chunk.content()) showPage()
    else await reloadIfPossible()
  }

  return (
    <Lazy
      chunk={chunk}
      loading={<Loading label="Загружаем страницу" />}
      fallback={(retry) => <PageFailure onRetry={() => loadAgain(retry)} />}
      props={{}}
    />
  )
}

export function PageFailure({ onRetry }: { onRetry: () => Promise<void> }) {
  return (
    <ErrorPage
      isWholePage
      title="Не удалось открыть страницу"
      text="Проверьте интернет и попробуйте ещё раз"
      retryLabel="Обновить"
      onRetry={onRetry}
    />
  )
}
