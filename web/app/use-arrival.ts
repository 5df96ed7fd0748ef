import { useLayoutEffect, useRef } from 'react'
import { useLocation, useNavigationType } from 'react-router'

/** A page one comes to by a link begins at its top, with the focus on its content. Going back keeps the place. */
export function useArrival(): void {
  const { key, pathname } = useLocation()
  const type = useNavigationType()
  const last = useRef({ key, pathname })

  useLayoutEffect(() => {
    const { key: lastKey, pathname: lastPathname } = last.current
    last.current = { key, pathname }
    if (key === lastKey || type === 'POP') return
    scrollTo(0, 0)
    if (pathname !== lastPathname) {
      document.getElementById('content')?.focus({ preventScroll: true })
    }
  }, [key, pathname, type])
}
