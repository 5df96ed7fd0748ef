import { useMemo } from 'react'
import { localStore } from '../lib/storage.ts'
import { useViewer } from '../lib/viewer.ts'
import { type DraftPlace, type Drafts, openDraft } from './drafts.ts'

/** The viewer's own draft in one place; what one person types never shows to another on the same machine. */
export function useDraft(place: DraftPlace): Drafts {
  const viewer = useViewer()
  const userId = viewer.state === 'authorized' ? viewer.user.id : ''
  return useMemo(() => openDraft(localStore, userId, place), [userId, place])
}
