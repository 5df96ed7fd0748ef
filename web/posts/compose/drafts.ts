import { useMemo, useState } from 'react'
import { normalizeText } from '../../../contract/text.ts'
import { createEmitter, useAtom } from '../../browser/atom.ts'
import { isRecord, localStore, type SafeStorage } from '../../browser/storage.ts'
import { useViewer } from '../../viewer/viewer.ts'

/** Where a text is being written: a new post, a reply to a post, an edit of a post, an appeal for a removed one. */
export type DraftPlace = 'new' | `reply ${string}` | `edit ${string}` | `appeal ${string}`

/** What was typed, and the text last sent with its key, as long as it is not known how that ended. */
type StoredDraft = { text: string; sent?: Sent }
type Sent = { text: string; key: string }

/** The text that one person has left unsent in one place. */
export type Draft = {
  /** Returns the text as typed; null where there is none. */
  read: () => string | null
  /** Saves the text as typed; an empty one removes the draft. */
  write: (text: string) => void
  /**
   * Returns the key to send `text` with. The same text has the same key until it was sent, whatever is typed in between,
   * so that no retry publishes it twice.
   */
  submissionKey: (text: string) => string
  /** Removes `text`, which the server has published, unless another one was typed in its place. */
  removeSent: (text: string) => void
  /** Removes what was typed, because nobody needs it any more. */
  clear: () => void
  /** Calls `listener` with each text that removeSent() is called with, by any form of this page. Returns an unsubscribe. */
  onSent: (listener: (text: string) => void) => () => void
}

const sentTexts = createEmitter<{ name: string; text: string }>()
const changes = createEmitter()

/** Calls a listener when a draft is created or removed on this page. Returns the function that unsubscribes it. */
export const onDraftsChanged = changes.subscribe

/** Removes everything a person left unsent in this browser: they log out, and others may use it after them. */
export function removeDrafts(store: SafeStorage, userId: string): void {
  store.removeAll(nameOf(userId))
  changes.emit()
}

/** The draft of one person in one place. Where the store saves nothing, it lasts as long as the returned object. */
export function openDraft(store: SafeStorage, userId: string, place: DraftPlace): Draft {
  const name = nameOf(userId, place)
  let unsaved: StoredDraft | null = null

  function load(): StoredDraft | null {
    if (unsaved) return unsaved
    const stored = store.readJson(name, isStoredDraft)
    if (!stored) return null
    return isSent(stored.sent) ? { text: stored.text, sent: stored.sent } : { text: stored.text }
  }

  function save(draft: StoredDraft): void {
    const before = load()?.text ?? ''
    const isEmpty = draft.text === '' && !draft.sent
    if (isEmpty) store.remove(name)
    else store.writeJson(name, draft)
    unsaved = !isEmpty && store.read(name) === null ? draft : null
    // Not with each letter: every post of the viewer's own on the page would check its draft.
    if ((draft.text === '') !== (before === '')) changes.emit()
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
    removeSent: (text) => {
      const typed = load()?.text ?? ''
      save({ text: normalizeText(typed) === text ? '' : typed })
      sentTexts.emit({ name, text })
    },
    clear: () => save({ text: '' }),
    onSent: (listener) =>
      sentTexts.subscribe((sent) => {
        if (sent.name === name) listener(sent.text)
      }),
  }
}

/** The storage name of a person's draft; without a place, the prefix that the names of all their drafts share. */
function nameOf(userId: string, place = ''): string {
  return `draft ${userId} ${place}`
}

/** Checks the text only: what was typed is worth more than the key it was sent with. */
function isStoredDraft(value: unknown): value is StoredDraft {
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
  return useAtom({ get: draft.read, subscribe: onDraftsChanged }, null)
}
