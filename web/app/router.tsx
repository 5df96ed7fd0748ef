import { type ComponentType, lazy, Suspense } from 'react'
import { Route, Routes, useLocation } from 'react-router'
import { WallPage } from '../pages/wall.tsx'
import { Loading } from '../ui/loading.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { SecuredRoute } from './secured-route.tsx'

// The wall comes with the first chunk; every other page is fetched when it is first opened.
const PostPage = page(loadPostPage)
const LikedPage = page(async () => (await import('../pages/liked.tsx')).LikedPage)
const OwnPostsPage = page(async () => (await import('../pages/own-posts.tsx')).OwnPostsPage)
const OwnRepliesPage = page(async () => (await import('../pages/own-replies.tsx')).OwnRepliesPage)
const SettingsPage = page(async () => (await import('../pages/settings.tsx')).SettingsPage)
const SettingsEmailPage = page(
  async () => (await import('../pages/settings-email.tsx')).SettingsEmailPage,
)
const SettingsUsernamePage = page(
  async () => (await import('../pages/settings-username.tsx')).SettingsUsernamePage,
)
const SettingsDevicesPage = page(
  async () => (await import('../pages/settings-devices.tsx')).SettingsDevicesPage,
)
const NotFoundPage = page(async () => (await import('../pages/not-found.tsx')).NotFoundPage)

let postPage: Promise<ComponentType> | undefined

/**
 * Begins to load the page of a post where a visit begins with one. The first render would ask for it too late: React
 * shows a spinner, once it stands, for 300 ms.
 */
export function loadFirstPage(pathname: string): void {
  // A page that cannot be fetched is complained of by the render.
  if (pathname.startsWith('/posts/')) loadPostPage().catch(() => {})
}

/** One promise for all who ask: a second import of what is there already would still take a while. */
function loadPostPage(): Promise<ComponentType> {
  postPage ??= import('../pages/post.tsx').then((module) => module.PostPage)
  return postPage
}

/** Which page stands at which path. */
export function AppRoutes() {
  return (
    <PageBoundary key={useLocation().pathname}>
      <Suspense fallback={<Loading label="Загружаем страницу" />}>
        <Routes>
          <Route path="/" element={<WallPage />} />
          <Route path="/posts/:id" element={<PostPage />} />
          <Route element={<SecuredRoute />}>
            <Route path="/liked" element={<LikedPage />} />
            <Route path="/own/posts" element={<OwnPostsPage />} />
            <Route path="/own/replies" element={<OwnRepliesPage />} />
            <Route path="/settings" element={<SettingsPage />} />
            <Route path="/settings/account/email" element={<SettingsEmailPage />} />
            <Route path="/settings/account/username" element={<SettingsUsernamePage />} />
            <Route path="/settings/devices" element={<SettingsDevicesPage />} />
          </Route>
          <Route path="*" element={<NotFoundPage />} />
        </Routes>
      </Suspense>
    </PageBoundary>
  )
}

function page(load: () => Promise<ComponentType>) {
  return lazy(async () => ({ default: await load() }))
}
