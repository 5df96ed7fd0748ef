import { useEffect, useRef } from 'react'
import { Outlet, useLocation, useNavigate } from 'react-router'
import { withViewer } from '../lib/intent.ts'
import { useViewer } from '../lib/viewer.ts'
import { Loading } from '../ui/loading.tsx'

/**
 * Pages for those who are signed in. A visitor who came by address lands on the wall with the sign-in dialog, which
 * leads back here; one whose session has just ended only lands on the wall.
 */
export function SecuredRoute() {
  const { state } = useViewer()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const wasHere = useRef(false)

  useEffect(() => {
    if (state === 'authorized') wasHere.current = true
    if (state !== 'signed-out') return
    void navigate('/', { replace: true })
    if (!wasHere.current) void withViewer({ name: 'go', path: pathname })
  }, [state, pathname, navigate])

  return state === 'authorized' ? <Outlet /> : <Loading label="Загружаем страницу" />
}
