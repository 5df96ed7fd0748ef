import { type ReactNode, useEffect, useRef } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { errorMessage } from '../api/error-message.ts'
import { ErrorRow } from '../ui/errors.tsx'
import { Loading } from '../ui/spinner.tsx'
import { withViewer } from '../viewer/intents.ts'
import { fetchViewer, useViewer, type Viewer } from '../viewer/viewer.ts'

/**
 * A visitor who opened such a page by its address gets the sign-in dialog, which leads back here; a
 * user whose session has just ended is only sent to the wall.
 */
export function SecuredRoute({ children }: { children: ReactNode }) {
  const viewer = useViewer()
  const { state } = viewer
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const wasHere = useRef(false)

  useEffect(() => {
    if (state === 'authorized') wasHere.current = true
    if (state !== 'signed-out') return
    void navigate(PATHS.wall, { replace: true })
    if (!wasHere.current) void withViewer({ name: 'go', path: pathname })
  }, [state, pathname, navigate])

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
    return <ErrorRow text={errorMessage(viewer.error)} onRetry={fetchViewer} />
  }
  return <Loading label="Загружаем страницу" />
}
