import { normalizeText } from '../../../contract/text.ts'
import { isRecord, type SafeStorage } from '../../browser/storage.ts'

/** Where a text is being written: a new post, a reply to a post, a change of a post. */
export type DraftPlace = 'new' | `reply ${string}` | `edit ${string}`

/** What was typed, and the text last sent with the key it was sent under, as long as nobody knows how that ended. */
type Draft = { text: string; sent?: Sent }
type Sent = { text: string; key: string }

export type Drafts = {
  /** The text as typed; null where there is none. */
  read: () => string | null
  /** Keeps the text as typed; an empty one leaves nothing to read. */
  write: (text: string) => void
  /**
   * The key to send `text` with: the same for the same text until it is settled, whatever is typed meanwhile, so that no
   * retry publishes twice.
   */
  submissionKey: (text: string) => string
  /** Tells that `text` was published: it is forgotten, unless another one has been typed in its place. */
  settle: (text: string) => void
  /** Forgets what was typed: nobody wants it any more. */
  clear: () => void
  /** Calls `listener` with each text settled, here or by another form of this page. Returns what ends that. */
  onSettled: (listener: (text: string) => void) => () => void
}

const settledListeners = new Set<(name: string, text: string) => void>()
const keptListeners = new Set<() => void>()

/** Calls `listener` when some draft of this page appears or goes. Returns what ends that. */
export function onDraftsKept(listener: () => void): () => void {
  keptListeners.add(listener)
  return () => keptListeners.delete(listener)
}

/** Removes all that a person left unsent in this browser: they log out, and others may use it after them. */
export function removeDrafts(store: SafeStorage, userId: string): void {
  store.removeAll(nameOf(userId))
  for (const listener of keptListeners) listener()
}

/** The draft of one person in one place. A store that keeps nothing costs the draft, never the typing. */
export function openDraft(store: SafeStorage, userId: string, place: DraftPlace): Drafts {
  const name = nameOf(userId, place)
  let unsaved: Draft | null = null

  function load(): Draft | null {
    if (unsaved) return unsaved
    const kept = store.readJson(name, isDraft)
    if (!kept) return null
    return isSent(kept.sent) ? { text: kept.text, sent: kept.sent } : { text: kept.text }
  }

  function save(draft: Draft): void {
    const before = load()?.text ?? ''
    const empty = draft.text === '' && !draft.sent
    if (empty) store.remove(name)
    else store.writeJson(name, draft)
    unsaved = !empty && store.read(name) === null ? draft : null
    // Not with each letter: every post of one's own on the page would look.
    if ((draft.text === '') !== (before === '')) for (const listener of keptListeners) listener()
  }

  return {
    read: () => load()?.text || null,
    write: (text) => {
      const draft = load()
      if (text !== (draft?.text ?? '')) save({ ...draft, text })
    },
    submissionKey: (text) => {
      const sent = load()?.sent
      const key = sent?.text === text ? sent.key : randomKey()
      save({ text, sent: { text, key } })
      return key
    },
    settle: (text) => {
      const typed = load()?.text ?? ''
      save({ text: normalizeText(typed) === text ? '' : typed })
      for (const listener of settledListeners) listener(name, text)
    },
    clear: () => save({ text: '' }),
    onSettled: (listener) => {
      const listen = (of: string, text: string) => {
        if (of === name) listener(text)
      }
      settledListeners.add(listen)
      return () => settledListeners.delete(listen)
    },
  }
}

/** Where a person's draft is kept; without a place, what the names of all their drafts begin with. */
function nameOf(userId: string, place = ''): string {
  return `draft ${userId} ${place}`
}

/** A text, at least: what was typed is worth more than the key it was sent under. */
function isDraft(value: unknown): value is Draft {
  return isRecord(value) && typeof value.text === 'string'
}

function isSent(value: unknown): value is Sent {
  return isRecord(value) && typeof value.text === 'string' && typeof value.key === 'string'
}

/** 128 random bits; crypto.randomUUID is missing on plain http. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
