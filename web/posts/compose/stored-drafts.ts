import { createEmitter, useAtom } from '../../browser/atom.ts'
import { isRecord, localStore, type SafeStorage } from '../../browser/storage.ts'
import { tabId } from '../../browser/tab-id.ts'
import { useViewer } from '../../viewer/viewer.ts'

/** Where a text is being written: a new post, a reply to a post, an edit of a post, an appeal for a removed one. */
export type DraftTarget = 'new' | `reply ${string}` | `edit ${string}` | `appeal ${string}`

/**
 * What was typed and when, in unix milliseconds, and the text last sent with its key, as long as it is not known how that
 * ended.
 */
export type StoredDraft = { text: string; sent?: Sent; at?: number }
type Sent = { text: string; key: string }
export type NamedDraft = { name: string; draft: StoredDraft }

/** Tells of each draft that is created or removed on this page. */
export const draftsChanged = createEmitter()

/** Removes everything a person left unsent in this browser: they log out, and others may use it after them. */
export function removeDrafts(store: SafeStorage, userId: string): void {
  store.removeAll(`draft ${userId} `)
  draftsChanged.emit()
}

/** Whose text it is, what it is for, and the tab in which it is written. */
export type DraftKey = { userId: string; target: DraftTarget; tab: string }

/** The storage name of a draft. Each tab has its own, so that none overwrites another's. */
export function draftName({ tab, ...key }: DraftKey): string {
  return `${sharedName(key)} ${tab}`
}

/** The name that an earlier release used in all tabs, with which all others begin. */
function sharedName({ userId, target }: Omit<DraftKey, 'tab'>): string {
  return `draft ${userId} ${target}`
}

/** The drafts of all tabs, the newest first. */
export function storedDrafts(store: SafeStorage, key: Omit<DraftKey, 'tab'>): NamedDraft[] {
  const shared = sharedName(key)
  return store
    .keys(shared)
    .filter((name) => name === shared || name.startsWith(`${shared} `))
    .map((name) => ({ name, draft: readStoredDraft(store, name) }))
    .filter((stored): stored is NamedDraft => stored.draft !== null)
    .sort((one, other) => (other.draft.at ?? 0) - (one.draft.at ?? 0))
}

/** The tab's own draft, or else the newest of another tab; undefined where there is none. */
export function findDraft(store: SafeStorage, key: DraftKey): NamedDraft | undefined {
  const own = draftName(key)
  const all = storedDrafts(store, key)
  return all.find(({ name }) => name === own) ?? all.find(({ draft }) => draft.text !== '')
}

/** The draft under a storage name; null where there is none. */
export function readStoredDraft(store: SafeStorage, name: string): StoredDraft | null {
  const stored = store.readJson(name, isStoredDraft)
  if (!stored) return null
  const { text, sent, at } = stored
  return { text, ...(isSent(sent) && { sent }), ...(typeof at === 'number' && { at }) }
}

/** Checks the text only: what was typed is worth more than the key it was sent with. */
function isStoredDraft(value: unknown): value is StoredDraft {
  return isRecord(value) && typeof value.text === 'string'
}

function isSent(value: unknown): value is Sent {
  return isRecord(value) && typeof value.text === 'string' && typeof value.key === 'string'
}

/** The viewer's unsent text in a place, as of when a draft was last created or removed; null where there is none. */
export function useUnsentText(target: DraftTarget): string | null {
  const viewer = useViewer()
  const userId = viewer.state === 'authorized' ? viewer.user.id : ''
  const get = () => findDraft(localStore, { userId, target, tab: tabId() })?.draft.text || null
  return useAtom({ get, subscribe: draftsChanged.subscribe }, null)
}
