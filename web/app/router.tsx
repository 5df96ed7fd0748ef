import type { ComponentType } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { type FirstPage, MODERATION_PATH, PATHS } from '../../contract/pages.ts'
import { createLazyChunk, reloadIfPossible } from '../browser/lazy-chunk.ts'
import { PostPage } from '../pages/post-page.tsx'
import { WallPage } from '../pages/wall.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { LazyPage, PageFailure } from './lazy-page.tsx'
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
  reports: page(async () => (await import('../pages/settings-reports.tsx')).SettingsReportsPage),
  moderation: page(async () => (await import('../pages/moderation.tsx')).ModerationPage),
  emailUndo: page(async () => (await import('../pages/email-undo.tsx')).EmailUndoPage),
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
          <Route path={PATHS.reports} element={<LazyPage chunk={PAGES.reports} />} />
        </Route>
        <Route path="*" element={<LazyPage chunk={PAGES.notFound} />} />
      </Routes>
    </ErrorBoundary>
  )
}

/** Loads the pages that a server renders, which must render them at once. */
export async function loadPublicPages(): Promise<void> {
  await PAGES.notFound.load()
}

/** Loads the page that the server has rendered: both sides must render it at once. Rejects when that fails. */
export async function loadFirstPage({ shows }: FirstPage): Promise<void> {
  if (shows === 'nothing') await PAGES.notFound.load()
}

/** Loads the pages that a signed-in viewer opens from the navigation, one after another. */
export async function preloadViewerPages(): Promise<void> {
  await PAGES.liked.preload()
  await PAGES.settings.preload()
}

function page(load: () => Promise<ComponentType>) {
  return createLazyChunk(load)
}
