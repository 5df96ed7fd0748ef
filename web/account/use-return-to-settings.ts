import { useLocation, useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { useLeave } from '../browser/use-leave.ts'

/** What a link of the settings leaves with the page it leads to. */
export const FROM_SETTINGS = { fromSettings: true }

/**
 * Returns from this page to the settings: a step back to one who came from them, else «Назад» would lead to the same page
 * once more. Does nothing once the person is elsewhere.
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
