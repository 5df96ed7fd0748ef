import type { ComponentType } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { type FirstPage, MODERATION_PATH, PATHS, TEXT_NAMES } from '../../contract/pages.ts'
import {
  createLazyChunk,
  type LazyChunk,
  reloadIfPossible,
  useLazyChunk,
} from '../browser/lazy-chunk.ts'
import { PostPage } from '../pages/post-page.tsx'
import { WallPage } from '../pages/wall.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loading } from '../ui/spinner.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { ModeratorsRoute, SecuredRoute } from './secured-route.tsx'

/** All pages but the wall and that of a post, which are in the first chunk: a post opens at once, without the server too. */
const PAGES = {
  liked: page(async () => (await import('../pages/viewer-feeds.tsx')).LikedPage),
  ownPosts: page(async () => (await import('../pages/viewer-feeds.tsx')).OwnPostsPage),
  ownReplies: page(async () => (await import('../pages/viewer-feeds.tsx')).OwnRepliesPage),
  settings: page(async () => (await import('../pages/settings.tsx')).SettingsPage),
  email: page(async () => (await import('../pages/settings.tsx')).SettingsEmailPage),
  username: page(async () => (await import('../pages/settings.tsx')).SettingsUsernamePage),
  devices: page(async () => (await import('../pages/settings.tsx')).SettingsDevicesPage),
  deleteAccount: page(
    async () => (await import('../pages/settings.tsx')).SettingsDeleteAccountPage,
  ),
  reports: page(async () => (await import('../pages/settings-reports.tsx')).SettingsReportsPage),
  moderation: page(async () => (await import('../pages/moderation.tsx')).ModerationPage),
  emailUndo: page(async () => (await import('../pages/email-undo.tsx')).EmailUndoPage),
  invitation: page(async () => (await import('../pages/invitation.tsx')).InvitationPage),
  text: page(async () => (await import('../pages/text-page.tsx')).TextPage),
  notFound: page(async () => (await import('../pages/not-found.tsx')).NotFoundPage),
}

/** The page at the current path. */
export function AppRoutes() {
  return (
    <ErrorBoundary
      key={useLocation().pathname}
      fallback={<PageFailure onRetry={reloadIfPossible} />}
    >
      <Routes>
        <Route path={PATHS.wall} element={<WallPage />} />
        <Route path={PATHS.post} element={<PostPage />} />
        <Route path={PATHS.emailUndo} element={<LazyPage chunk={PAGES.emailUndo} />} />
        <Route path={PATHS.invitation} element={<LazyPage chunk={PAGES.invitation} />} />
        {TEXT_NAMES.map((name) => (
          <Route key={name} path={PATHS[name]} element={<LazyPage chunk={PAGES.text} />} />
        ))}
        <Route element={<ModeratorsRoute otherwise={<LazyPage chunk={PAGES.notFound} />} />}>
          <Route path={MODERATION_PATH} element={<LazyPage chunk={PAGES.moderation} />} />
        </Route>
        <Route element={<SecuredRoute />}>
          <Route path={PATHS.liked} element={<LazyPage chunk={PAGES.liked} />} />
          <Route path={PATHS.ownPosts} element={<LazyPage chunk={PAGES.ownPosts} />} />
          <Route path={PATHS.ownReplies} element={<LazyPage chunk={PAGES.ownReplies} />} />
          <Route path={PATHS.settings} element={<LazyPage chunk={PAGES.settings} />} />
          <Route path={PATHS.email} element={<LazyPage chunk={PAGES.email} />} />
          <Route path={PATHS.username} element={<LazyPage chunk={PAGES.username} />} />
          <Route path={PATHS.devices} element={<LazyPage chunk={PAGES.devices} />} />
          <Route path={PATHS.deleteAccount} element={<LazyPage chunk={PAGES.deleteAccount} />} />
          <Route path={PATHS.reports} element={<LazyPage chunk={PAGES.reports} />} />
        </Route>
        <Route path="*" element={<LazyPage chunk={PAGES.notFound} />} />
      </Routes>
    </ErrorBoundary>
  )
}

/**
 * Loads the page that the server renders, if it is in a lazy chunk: both sides must render it at once. Rejects when that
 * fails.
 */
export async function loadFirstPage({ shows }: Pick<FirstPage, 'shows'>): Promise<void> {
  if (shows === 'nothing') await PAGES.notFound.load()
  if (shows === 'text') await PAGES.text.load()
}

/** Loads the pages that a signed-in viewer opens from the navigation, one after another. */
export async function preloadViewerPages(): Promise<void> {
  await PAGES.liked.preload()
  await PAGES.settings.preload()
}

function page(load: () => Promise<ComponentType>) {
  return createLazyChunk(load)
}

/** A page in a lazy chunk. If the chunk fails, it is fetched again by a button, and whenever the page is opened anew. */
function LazyPage({ chunk }: { chunk: LazyChunk<ComponentType> }) {
  const { content: Content, failed, retry } = useLazyChunk(chunk)

  async function retryOrReload(): Promise<void> {
    // Some browsers remember that a script failed, and a release may have removed it: only a reload helps then.
    if (!(await retry())) await reloadIfPossible()
  }

  if (Content) return <Content />
  return failed ? <PageFailure onRetry={retryOrReload} /> : <Loading label="Загружаем страницу" />
}

/** Shown in place of a page that failed to load or to render. The button is pending until `onRetry` settles. */
export function PageFailure({ onRetry }: { onRetry: () => Promise<void> }) {
  return (
    <div role="alert">
      <EmptyState
        isWholePage
        title="Не удалось открыть страницу"
        text="Проверьте интернет и попробуйте ещё раз"
        action={
          <Button variant="strong" onClick={onRetry}>
            Обновить
          </Button>
        }
      />
    </div>
  )
}
