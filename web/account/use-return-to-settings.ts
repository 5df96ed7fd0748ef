import { useLocation, useNavigate } from 'react-router'

/** What a link of the settings leaves with the page it leads to. */
export const FROM_SETTINGS = { fromSettings: true }

/** Returns to the settings: a step back to one who came from them, else «Назад» would lead to the same page once more. */
export function useReturnToSettings(): () => void {
  const navigate = useNavigate()
  const state = useLocation().state as Partial<typeof FROM_SETTINGS> | null
  return () => void (state?.fromSettings ? navigate(-1) : navigate('/settings', { replace: true }))
}
