import { Fragment, type ReactNode } from 'react'
import { errorMessage } from '../http/error-message.ts'
import { useHydrated } from '../platform/hydrated.ts'
import { isKnown, useViewer, viewerForAction } from '../session/viewer.ts'
import { ErrorRow } from '../ui/errors.tsx'
import { Loading } from '../ui/spinner.tsx'

type SecuredRouteProps = {
  children: ReactNode
  /** Shown to users who are not moderators; if absent, the page is for all users. */
  otherwise?: ReactNode
}

/**
 * Visitors never stay on a page for users: see guard-pages.ts. Another user gets the page anew,
 * without what the former one typed.
 */
export function SecuredRoute({ children, otherwise }: SecuredRouteProps) {
  const viewer = useViewer()
  const isHydrated = useHydrated()
  if (viewer.state === 'authorized' && (!otherwise || viewer.user.isModerator)) {
    return <Fragment key={viewer.user.id}>{children}</Fragment>
  }
  if (isKnown(viewer) && otherwise) return otherwise
  if (viewer.state === 'no-answer') {
    return <ErrorRow text={errorMessage(viewer.error)} onRetry={viewerForAction} />
  }
  // The spinner has style attributes, which a page rendered by the server must not have.
  return isHydrated && <Loading label="Загружаем страницу" />
}
