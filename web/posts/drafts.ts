/** Where a text is being written: a new post, a reply to a post, a change of a post. */
export type DraftPlace = 'new' | `reply ${string}` | `edit ${string}`

/** What was typed, and the key under which that very text was once sent, if it was. */
type Draft = { text: string; submission?: string }

/** Where drafts are kept; it never throws, and may keep nothing. */
export type DraftStore = {
  read: (name: string) => string | null
  write: (name: string, text: string) => void
  remove: (name: string) => void
}

export type Drafts = {
  read: () => Draft | null
  /** Keeps the text as typed; an empty one leaves nothing behind. */
  write: (text: string) => void
  /** The key to send `text` with: the same for the same text until it is cleared, so that no retry publishes twice. */
  submissionKey: (text: string) => string
  clear: () => void
}

/** The draft of one person in one place. A store that keeps nothing costs the draft, never the typing. */
export function openDraft(store: DraftStore, userId: string, place: DraftPlace): Drafts {
  const name = `draft ${userId} ${place}`
  let unsaved: Draft | null = null

  function read(): Draft | null {
    return unsaved ?? parseDraft(store.read(name))
  }

  function save(draft: Draft | null): void {
    if (draft) store.write(name, JSON.stringify(draft))
    else store.remove(name)
    unsaved = draft && store.read(name) === null ? draft : null
  }

  return {
    read,
    write: (text) => {
      if (text === read()?.text) return
      save(text === '' ? null : { text })
    },
    submissionKey: (text) => {
      const draft = read()
      if (draft?.submission && draft.text === text) return draft.submission
      const submission = randomKey()
      save({ text, submission })
      return submission
    },
    clear: () => save(null),
  }
}

function parseDraft(saved: string | null): Draft | null {
  const value = saved === null ? null : parseJson(saved)
  if (typeof value !== 'object' || value === null || !('text' in value)) return null
  if (typeof value.text !== 'string') return null
  const submission = 'submission' in value ? value.submission : undefined
  return typeof submission === 'string' ? { text: value.text, submission } : { text: value.text }
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
