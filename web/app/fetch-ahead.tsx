import { useIsFetching } from '@tanstack/react-query'
import { useEffect } from 'react'
import { whenIdle } from '../browser/when-idle.ts'
import { quietly } from '../ui/part.ts'
import { useViewer } from '../viewer/viewer.ts'
import { DIALOGS } from './dialog-parts.ts'

const IDLE_MS = 2000

/**
 * Fetches windows and menus once the page has shown what it read and is idle, so that they open at once, and without a
 * network too. Only for those who are signed in: a visitor mostly reads, and would pay 30 KB more at a first visit for
 * what leads to signing in anyway. The sign-in window is fetched when a visitor points at «Войти».
 */
export function FetchAhead() {
  const { state } = useViewer()
  const reads = useIsFetching() > 0

  useEffect(() => {
    if (state !== 'authorized' || reads) return
    return whenIdle(() => void fetchAhead(), IDLE_MS)
  }, [state, reads])
  return null
}

/** One after another, so that they hardly hold up what the person asks for meanwhile. */
async function fetchAhead(): Promise<void> {
  await quietly(() => import('../ui/menu.tsx'))
  await quietly(() => import('../ui/listbox-options.tsx'))
  for (const dialog of Object.values(DIALOGS)) await dialog.ahead()
}
