import { useCallback } from 'react'
import { useNavigate } from 'react-router'

/**
 * Leaves the page at `path` for another one, which takes its place in the history. Does nothing once the person is
 * elsewhere: an answer that comes late must not move them.
 */
export function useLeave(path: string): (to: string) => void {
  const navigate = useNavigate()
  return useCallback(
    (to) => {
      if (location.pathname === path) void navigate(to, { replace: true })
    },
    [path, navigate],
  )
}
