import type { ReactNode } from 'react'
import { errorMessage } from '../http/error-message.ts'
import { useHydrated } from '../platform/hydrated.ts'
import { useViewer, type Viewer, viewerForAction } from '../session/viewer.ts'
import { ErrorRow } from '../ui/errors.tsx'
import { Loading } from '../ui/spinner.tsx'

/** Visitors never stay here: see guard-pages.ts. */
export function SecuredRoute({ children }: { children: ReactNode }) {
  const viewer = useViewer()
  return viewer.state === 'authorized' ? children : <ViewerPending viewer={viewer} />
}

/** Everybody but moderators sees `otherwise`, as at an address without a page. */
export function ModeratorsRoute({
  children,
  otherwise,
}: Record<'children' | 'otherwise', ReactNode>) {
  const viewer = useViewer()
  if (viewer.state === 'signed-out') return otherwise
  if (viewer.state === 'authorized') return viewer.user.isModerator ? children : otherwise
  return <ViewerPending viewer={viewer} />
}

function ViewerPending({ viewer }: { viewer: Viewer }) {
  const isHydrated = useHydrated()
  if (viewer.state === 'no-answer') {
    return <ErrorRow text={errorMessage(viewer.error)} onRetry={viewerForAction} />
  }
  // The server's page has no style attributes.
  return isHydrated && <Loading label="Загружаем страницу" />
}
