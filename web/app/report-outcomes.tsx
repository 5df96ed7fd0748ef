import { useEffect } from 'react'
import { preload } from '../browser/lazy-chunk.ts'
import { whenIdle } from '../browser/when-idle.ts'
import { useToast } from '../ui/toaster.tsx'
import { useViewer } from '../viewer/viewer.ts'

const IDLE_MS = 3000

/** Tells a signed-in viewer what became of their reports, when the page is idle. */
export function ReportOutcomes() {
  const viewer = useViewer()
  const hasNews = viewer.state === 'authorized' && viewer.user.hasNewOutcomes === true
  const toast = useToast()

  useEffect(() => {
    if (!hasNews) return
    const tell = async () => (await import('../moderation/new-outcomes.ts')).tellNewOutcomes(toast)
    return whenIdle(() => void preload(tell), IDLE_MS)
  }, [hasNews, toast])
  return null
}
