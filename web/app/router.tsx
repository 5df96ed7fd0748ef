import { Route, Routes, useLocation } from 'react-router'
import { WallPage } from '../pages/wall.tsx'
import { Page } from './page.tsx'
import { PageBoundary } from './page-boundary.tsx'
import { PAGES } from './page-parts.ts'
import { SecuredRoute } from './secured-route.tsx'

/** Which page stands at which path. */
export function AppRoutes() {
  return (
    <PageBoundary key={useLocation().pathname}>
      <Routes>
        <Route path="/" element={<WallPage />} />
        <Route path="/posts/:id" element={<Page part={PAGES.post} />} />
        <Route element={<SecuredRoute />}>
          <Route path="/liked" element={<Page part={PAGES.liked} />} />
          <Route path="/own/posts" element={<Page part={PAGES.ownPosts} />} />
          <Route path="/own/replies" element={<Page part={PAGES.ownReplies} />} />
          <Route path="/settings" element={<Page part={PAGES.settings} />} />
          <Route path="/settings/account/email" element={<Page part={PAGES.email} />} />
          <Route path="/settings/account/username" element={<Page part={PAGES.username} />} />
          <Route path="/settings/devices" element={<Page part={PAGES.devices} />} />
        </Route>
        <Route path="*" element={<Page part={PAGES.notFound} />} />
      </Routes>
    </PageBoundary>
  )
}
