import type { ComponentType } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { createLazyChunk, reloadIfPossible } from '../browser/lazy-chunk.ts'
import { WallPage } from '../pages/wall.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { LazyPage, PageFailure } from './lazy-page.tsx'
import { SecuredRoute } from './secured-route.tsx'

/** All pages but the wall, which is in the first chunk. */
const PAGES = {
  post: page(async () => (await import('../pages/post-page.tsx')).PostPage),
  liked: page(async () => (await import('../pages/liked.tsx')).LikedPage),
  ownPosts: page(async () => (await import('../pages/own-posts.tsx')).OwnPostsPage),
  ownReplies: page(async () => (await import('../pages/own-replies.tsx')).OwnRepliesPage),
  settings: page(async () => (await import('../pages/settings.tsx')).SettingsPage),
  email: page(async () => (await import('../pages/settings-email.tsx')).SettingsEmailPage),
  username: page(async () => (await import('../pages/settings-username.tsx')).SettingsUsernamePage),
  devices: page(async () => (await import('../pages/settings-devices.tsx')).SettingsDevicesPage),
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
        <Route path={PATHS.post} element={<LazyPage chunk={PAGES.post} />} />
        <Route path={PATHS.emailUndo} element={<LazyPage chunk={PAGES.emailUndo} />} />
        <Route element={<SecuredRoute />}>
          <Route path={PATHS.liked} element={<LazyPage chunk={PAGES.liked} />} />
          <Route path={PATHS.ownPosts} element={<LazyPage chunk={PAGES.ownPosts} />} />
          <Route path={PATHS.ownReplies} element={<LazyPage chunk={PAGES.ownReplies} />} />
          <Route path={PATHS.settings} element={<LazyPage chunk={PAGES.settings} />} />
          <Route path={PATHS.email} element={<LazyPage chunk={PAGES.email} />} />
          <Route path={PATHS.username} element={<LazyPage chunk={PAGES.username} />} />
          <Route path={PATHS.devices} element={<LazyPage chunk={PAGES.devices} />} />
        </Route>
        <Route path="*" element={<LazyPage chunk={PAGES.notFound} />} />
      </Routes>
    </ErrorBoundary>
  )
}

/**
 * Begins to load the page of a post where a visit starts with one. The first render would begin too late, and show a
 * spinner where the post could already stand.
 */
export function preloadFirstPage(pathname: string): void {
  if (pathname.startsWith('/posts/')) void PAGES.post.preload()
}

function page(load: () => Promise<ComponentType>) {
  return createLazyChunk(load)
}
