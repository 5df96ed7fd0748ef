import { normalizeText } from '../../contract/text.ts'

/** Where a text is being written: a new post, a reply to a post, a change of a post. */
export type DraftPlace = 'new' | `reply ${string}` | `edit ${string}`

/** What was typed, and the text last sent with the key it was sent under, as long as nobody knows how that ended. */
type Draft = { text: string; sent?: Sent }
type Sent = { text: string; key: string }

/** Where drafts are kept; it never throws, and may keep nothing. */
export type DraftStore = {
  read: (name: string) => string | null
  write: (name: string, text: string) => void
  remove: (name: string) => void
}

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

/** The draft of one person in one place. A store that keeps nothing costs the draft, never the typing. */
export function openDraft(store: DraftStore, userId: string, place: DraftPlace): Drafts {
  const name = `draft ${userId} ${place}`
  let unsaved: Draft | null = null

  function load(): Draft | null {
    return unsaved ?? parseDraft(store.read(name))
  }

  function save(draft: Draft): void {
    const before = load()?.text ?? ''
    const empty = draft.text === '' && !draft.sent
    if (empty) store.remove(name)
    else store.write(name, JSON.stringify(draft))
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

function parseDraft(saved: string | null): Draft | null {
  const value = saved === null ? null : parseJson(saved)
  if (!isRecord(value) || typeof value.text !== 'string') return null
  const { text, sent } = value
  return isSent(sent) ? { text, sent } : { text }
}

function isSent(value: unknown): value is Sent {
  return isRecord(value) && typeof value.text === 'string' && typeof value.key === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** 128 random bits; crypto.randomUUID is missing on plain http. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
