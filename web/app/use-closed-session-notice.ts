import { useEffect } from 'react'
import { useToast } from '../ui/toaster.tsx'
import { useViewer } from '../viewer/viewer.ts'

/** Tells a person why they are suddenly a visitor: the session ran out or was closed on another device. */
export function useClosedSessionNotice(): void {
  const viewer = useViewer()
  const toast = useToast()
  const closed = viewer.state === 'signed-out' && viewer.because === 'session-closed'

  useEffect(() => {
    if (closed) toast({ text: 'Эта сессия закрыта. Войдите снова' })
  }, [closed, toast])
}
