import { exactDay } from '../../format/labels.ts'
import { serverNow } from '../../http/server-clock.ts'
import { useUser } from '../../session/viewer.ts'

/** Returns texts about the viewer's block; null if the viewer may write. */
export function useBlock(): { until: string; reason: string } | null {
  const block = useUser()?.block
  if (!block || (block.until !== null && block.until < serverNow())) return null
  return {
    until:
      block.until === null
        ? 'Вы можете только читать'
        : `До ${exactDay(block.until)} вы можете только читать`,
    reason: `Причина: ${block.reason.replace(/\.+$/, '')}.`,
  }
}

export function useBlockNote(): string | undefined {
  const block = useBlock()
  return block ? `${block.until}. ${block.reason}` : undefined
}
