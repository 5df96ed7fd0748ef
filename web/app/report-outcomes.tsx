import { useEffect, useEffectEvent } from 'react'
import { useNavigate } from 'react-router'
import { PATHS } from '../../contract/pages.ts'
import { preload } from '../browser/lazy-chunk.ts'
import { whenIdle } from '../browser/when-idle.ts'
import { useToast } from '../ui/toaster.tsx'
import { useViewer } from '../viewer/viewer.ts'

const IDLE_MS = 3000

/** Tells a signed-in viewer once per visit what became of their reports, when the page is idle. */
export function ReportOutcomes() {
  const viewer = useViewer()
  const toast = useToast()
  const navigate = useNavigate()
  const userId = viewer.state === 'authorized' ? viewer.user.id : null

  const tell = useEffectEvent((text: string) => {
    const href = PATHS.reports
    toast({ text, link: { label: 'Смотреть', href, onSelect: () => void navigate(href) } })
  })

  useEffect(() => {
    if (userId === null) return
    const ask = async () => {
      const { takeNewOutcomes } = await import('../moderation/new-outcomes.ts')
      const text = await takeNewOutcomes(userId)
      if (text !== null) tell(text)
    }
    return whenIdle(() => void preload(ask), IDLE_MS)
  }, [userId])
  return null
}
