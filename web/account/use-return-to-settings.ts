import { useLocation, useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { useLeave } from '../browser/use-leave.ts'

/** The history state of a page that was opened by a link in the settings. */
export const FROM_SETTINGS = { fromSettings: true }

/**
 * Returns a function that leads from this page to the settings: one step back if the person came from them, because
 * otherwise «Назад» would lead to this page again. It does nothing once another page is open.
 */
export function useReturnToSettings(): () => void {
  const navigate = useNavigate()
  const { pathname, state } = useLocation()
  const leave = useLeave(pathname)
  const { fromSettings } = (state ?? {}) as Partial<typeof FROM_SETTINGS>

  return () => {
    if (!fromSettings) leave(PATHS.settings)
    else if (location.pathname === pathname) void navigate(-1)
  }
}
