import { formatDate } from '../../format/labels.ts'
import { serverNow } from '../../http/server-clock.ts'
import { useSiteState } from '../../session/site-state.ts'
import { useUser } from '../../session/viewer.ts'

/** Returns texts about the viewer's block; null if the viewer may write. */
export function useBlock(): { until: string; reason: string } | null {
  const block = useUser()?.block
  if (!block || (block.until !== null && block.until < serverNow())) return null
  return {
    until:
      block.until === null
        ? 'Вы можете только читать'
        : `До ${formatDate(block.until)} вы можете только читать`,
    reason: `Причина: ${block.reason.replace(/\.+$/, '')}.`,
  }
}

/** Returns why the viewer may not write; undefined if the viewer may. */
export function useBlockNote(): string | undefined {
  const block = useBlock()
  const { writingClosed } = useSiteState()
  if (block) return `${block.until}. ${block.reason}`
  return writingClosed === null ? undefined : `Писать пока нельзя: ${writingClosed}`
}
