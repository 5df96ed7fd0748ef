import { createEmitter, useAtom } from '../../browser/atom.ts'
import { isRecord, localStore, type SafeStorage } from '../../browser/storage.ts'
import { useViewer } from '../../viewer/viewer.ts'

/** Where a text is being written: a new post, a reply to a post, an edit of a post, an appeal for a removed one. */
export type DraftPlace = 'new' | `reply ${string}` | `edit ${string}` | `appeal ${string}`

/** What was typed, and the text last sent with its key, as long as it is not known how that ended. */
export type StoredDraft = { text: string; sent?: Sent }
type Sent = { text: string; key: string }

/** Tells of each draft that is created or removed on this page. */
export const draftsChanged = createEmitter()

/** Removes everything a person left unsent in this browser: they log out, and others may use it after them. */
export function removeDrafts(store: SafeStorage, userId: string): void {
  store.removeAll(draftName(userId))
  draftsChanged.emit()
}

/** The storage name of a person's draft; without a place, the prefix that the names of all their drafts share. */
export function draftName(userId: string, place = ''): string {
  return `draft ${userId} ${place}`
}

/** The draft under a storage name; null where there is none. */
export function readStoredDraft(store: SafeStorage, name: string): StoredDraft | null {
  const stored = store.readJson(name, isStoredDraft)
  if (!stored) return null
  return isSent(stored.sent) ? { text: stored.text, sent: stored.sent } : { text: stored.text }
}

/** Checks the text only: what was typed is worth more than the key it was sent with. */
function isStoredDraft(value: unknown): value is StoredDraft {
  return isRecord(value) && typeof value.text === 'string'
}

function isSent(value: unknown): value is Sent {
  return isRecord(value) && typeof value.text === 'string' && typeof value.key === 'string'
}

/** The viewer's unsent text in a place, as of when a draft was last created or removed; null where there is none. */
export function useUnsentText(place: DraftPlace): string | null {
  const viewer = useViewer()
  const name = draftName(viewer.state === 'authorized' ? viewer.user.id : '', place)
  const get = () => readStoredDraft(localStore, name)?.text || null
  return useAtom({ get, subscribe: draftsChanged.subscribe }, null)
}
