import { useCallback } from 'react'
import { useNavigate } from 'react-router'

/**
 * The function that replaces the page at `path` by another one, in the history too. It does nothing when the person has
 * already gone elsewhere: a late answer must not move them.
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
