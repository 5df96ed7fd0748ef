import { Route, Routes, useLocation } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
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
        <Route path={PATHS.wall} element={<WallPage />} />
        <Route path={PATHS.post} element={<Page part={PAGES.post} />} />
        <Route path={PATHS.emailUndo} element={<Page part={PAGES.emailUndo} />} />
        <Route element={<SecuredRoute />}>
          <Route path={PATHS.liked} element={<Page part={PAGES.liked} />} />
          <Route path={PATHS.ownPosts} element={<Page part={PAGES.ownPosts} />} />
          <Route path={PATHS.ownReplies} element={<Page part={PAGES.ownReplies} />} />
          <Route path={PATHS.settings} element={<Page part={PAGES.settings} />} />
          <Route path={PATHS.email} element={<Page part={PAGES.email} />} />
          <Route path={PATHS.username} element={<Page part={PAGES.username} />} />
          <Route path={PATHS.devices} element={<Page part={PAGES.devices} />} />
        </Route>
        <Route path="*" element={<Page part={PAGES.notFound} />} />
      </Routes>
    </PageBoundary>
  )
}
