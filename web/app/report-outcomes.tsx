import { useEffect } from 'react'
import { preload } from '../platform/lazy-chunk.ts'
import { whenIdle } from '../platform/timing.ts'
import { useViewer } from '../session/viewer.ts'

const IDLE_MS = 3000

/**
 * Tells a signed-in viewer what became of their reports, and of their posts, when the page is idle.
 */
export function ReportOutcomes() {
  const viewer = useViewer()
  const { hasNewOutcomes = false, lastRemoval } = viewer.state === 'authorized' ? viewer.user : {}

  useEffect(() => {
    if (!hasNewOutcomes && !lastRemoval) return
    const tell = async () =>
      (await import('../moderation/outcomes/new-outcomes.ts')).tellNews(hasNewOutcomes, lastRemoval)
    return whenIdle(() => void preload(tell), IDLE_MS)
  }, [hasNewOutcomes, lastRemoval])
  return null
}
