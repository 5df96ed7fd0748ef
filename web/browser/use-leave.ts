import { useCallback } from 'react'
import { useNavigate } from 'react-router'

/** Replaces the page at `path` unless the person has gone: a late answer must not move them. */
export function useLeave(path: string): (to: string) => void {
  const navigate = useNavigate()
  return useCallback(
    (to) => {
      if (location.pathname === path) void navigate(to, { replace: true })
    },
    [path, navigate],
  )
}
