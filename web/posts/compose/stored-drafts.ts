import { createEmitter, useAtom } from '../../platform/atom.ts'
import { isRecord, localStore, type SafeStorage } from '../../platform/storage.ts'
import { tabId } from '../../session/tab-id.ts'
import { useViewer } from '../../session/viewer.ts'

export type DraftTarget = 'new' | `reply ${string}` | `edit ${string}` | `appeal ${string}`

/** `at` is in unix milliseconds. `sent` is there until the server's answer is known. */
export type StoredDraft = { text: string; sent?: Sent; at?: number }
type Sent = { text: string; key: string }
export type NamedDraft = { name: string; draft: StoredDraft }

export const draftsChanged = createEmitter()

export type DraftKey = { userId: string; target: DraftTarget; tab: string }

/** Each tab has a name of its own, so that none overwrites another's draft. */
export function draftName({ tab, ...key }: DraftKey): string {
  return `${draftPrefix(key)}${tab}`
}

function draftPrefix({ userId, target }: Omit<DraftKey, 'tab'>): string {
  return `draft ${userId} ${target} `
}

export function storedDrafts(store: SafeStorage, key: Omit<DraftKey, 'tab'>): NamedDraft[] {
  return store
    .keys(draftPrefix(key))
    .map((name) => ({ name, draft: readStoredDraft(store, name) }))
    .filter((stored): stored is NamedDraft => stored.draft !== null)
    .sort((one, other) => (other.draft.at ?? 0) - (one.draft.at ?? 0))
}

/** Returns the tab's own draft, or else the newest of another tab. */
export function findDraft(store: SafeStorage, key: DraftKey): NamedDraft | undefined {
  const own = draftName(key)
  const all = storedDrafts(store, key)
  return all.find(({ name }) => name === own) ?? all.find(({ draft }) => draft.text !== '')
}

export function readStoredDraft(store: SafeStorage, name: string): StoredDraft | null {
  const stored = store.readJson(name, isStoredDraft)
  if (!stored) return null
  const { text, sent, at } = stored
  return { text, ...(isSent(sent) && { sent }), ...(typeof at === 'number' && { at }) }
}

/** The key is not checked: what was typed is worth more than the key it was sent with. */
function isStoredDraft(value: unknown): value is StoredDraft {
  return isRecord(value) && typeof value.text === 'string'
}

function isSent(value: unknown): value is Sent {
  return isRecord(value) && typeof value.text === 'string' && typeof value.key === 'string'
}

export function useUnsentText(target: DraftTarget): string | null {
  const viewer = useViewer()
  const userId = viewer.state === 'authorized' ? viewer.user.id : ''
  const get = () => findDraft(localStore, { userId, target, tab: tabId() })?.draft.text || null
  return useAtom({ get, subscribe: draftsChanged.subscribe }, null)
}
