import { useMemo, useState, useSyncExternalStore } from 'react'
import { localStore } from '../../browser/storage.ts'
import { useViewer } from '../../viewer/viewer.ts'
import { type DraftPlace, type Drafts, onDraftsKept, openDraft } from './drafts.ts'

/**
 * The viewer's own draft in one place; what one person types never shows to another on the same machine. It stays that
 * of the one who opened it: a session that ends meanwhile must not take the text along.
 */
export function useDraft(place: DraftPlace): Drafts {
  const viewer = useViewer()
  const [userId] = useState(viewer.state === 'authorized' ? viewer.user.id : '')
  return useMemo(() => openDraft(localStore, userId, place), [userId, place])
}

/** What the viewer has left unsent in a place, as it was when that began or ended; null where there is nothing. */
export function useKeptText(place: DraftPlace): string | null {
  const draft = useDraft(place)
  return useSyncExternalStore(onDraftsKept, draft.read, () => null)
}
