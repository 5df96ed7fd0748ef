import { useMemo, useState, useSyncExternalStore } from 'react'
import { localStore } from '../../browser/storage.ts'
import { useViewer } from '../../viewer/viewer.ts'
import { type Draft, type DraftPlace, onDraftsChanged, openDraft } from './drafts.ts'

/**
 * The viewer's own draft in one place; people who share a machine never see each other's. It stays that of the viewer at
 * the first render, so that a session that ends meanwhile does not take the text away.
 */
export function useDraft(place: DraftPlace): Draft {
  const viewer = useViewer()
  const [userId] = useState(viewer.state === 'authorized' ? viewer.user.id : '')
  return useMemo(() => openDraft(localStore, userId, place), [userId, place])
}

/** The viewer's unsent text in a place, as of when a draft was last created or removed; null where there is none. */
export function useUnsentText(place: DraftPlace): string | null {
  const draft = useDraft(place)
  return useSyncExternalStore(onDraftsChanged, draft.read, () => null)
}
