import { useEffect } from 'react'
import { preload } from '../platform/lazy-chunk.ts'
import { whenIdle } from '../platform/when-idle.ts'
import { useViewer } from '../session/viewer.ts'

const IDLE_MS = 3000

/** Tells a signed-in viewer what became of their reports, when the page is idle. */
export function ReportOutcomes() {
  const viewer = useViewer()
  const hasNews = viewer.state === 'authorized' && viewer.user.hasNewOutcomes === true

  useEffect(() => {
    if (!hasNews) return
    const tell = async () =>
      (await import('../moderation/outcomes/new-outcomes.ts')).tellNewOutcomes()
    return whenIdle(() => void preload(tell), IDLE_MS)
  }, [hasNews])
  return null
}
