import { useMemo, useState } from 'react'
import { normalizeText } from '../../../contract/text.ts'
import { createEmitter } from '../../browser/atom.ts'
import { localStore, type SafeStorage } from '../../browser/storage.ts'
import { useViewer } from '../../viewer/viewer.ts'
import {
  type DraftPlace,
  draftName,
  draftsChanged,
  readStoredDraft,
  type StoredDraft,
} from './stored-drafts.ts'

/** What toasts about a text that the viewer writes are about: the newest one says what has become of it. */
export const OWN_TEXT = 'own text'

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
  /** Calls `listener` with each text that removeSent() is called with, by any form of this page. Returns the function that unsubscribes it. */
  onSent: (listener: (text: string) => void) => () => void
}

const sentTexts = createEmitter<{ name: string; text: string }>()

/** The draft of one person in one place. Where the store saves nothing, it lasts as long as the returned object. */
export function openDraft(store: SafeStorage, userId: string, place: DraftPlace): Draft {
  const name = draftName(userId, place)
  let unsaved: StoredDraft | null = null

  function load(): StoredDraft | null {
    return unsaved ?? readStoredDraft(store, name)
  }

  function save(draft: StoredDraft): void {
    const before = load()?.text ?? ''
    const isEmpty = draft.text === '' && !draft.sent
    if (isEmpty) store.remove(name)
    else store.writeJson(name, draft)
    unsaved = !isEmpty && store.read(name) === null ? draft : null
    // Not with each letter: every post of the viewer's own on the page would check its draft.
    if ((draft.text === '') !== (before === '')) draftsChanged.emit()
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
