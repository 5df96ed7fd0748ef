import { type ReactNode, useEffect, useRef } from 'react'
import { PATHS } from '../../contract/pages.ts'
import { useEntry } from '../history/entry.tsx'
import { navigate } from '../history/history.ts'
import { errorMessage } from '../http/error-message.ts'
import { withViewer } from '../session/intents.ts'
import { useViewer, type Viewer, viewerForAction } from '../session/viewer.ts'
import { ErrorRow } from '../ui/errors.tsx'
import { Loading } from '../ui/spinner.tsx'

/**
 * A visitor who opened such a page by its address gets the sign-in dialog, which leads back here; a
 * user whose session has just ended is only sent to the wall.
 */
export function SecuredRoute({ children }: { children: ReactNode }) {
  const viewer = useViewer()
  const { state } = viewer
  const wasClosed = viewer.state === 'signed-out' && viewer.because !== undefined
  const { pathname } = useEntry()
  const wasHere = useRef(false)

  useEffect(() => {
    if (state === 'authorized') wasHere.current = true
    if (state !== 'signed-out') return
    navigate(PATHS.wall, { replace: true })
    if (!wasHere.current && !wasClosed) void withViewer({ name: 'go', path: pathname })
  }, [state, wasClosed, pathname])

  if (viewer.state === 'authorized') return children
  return <ViewerPending viewer={viewer} />
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
  if (viewer.state === 'no-answer') {
    return <ErrorRow text={errorMessage(viewer.error)} onRetry={viewerForAction} />
  }
  return <Loading label="Загружаем страницу" />
}
