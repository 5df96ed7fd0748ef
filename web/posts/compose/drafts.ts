import { useEffect, useMemo, useState } from 'react'
import { normalizeText } from '../../../contract/text.ts'
import { createEmitter } from '../../browser/atom.ts'
import { randomKey } from '../../browser/random-key.ts'
import { localStore, type SafeStorage } from '../../browser/storage.ts'
import { tabId } from '../../browser/tab-id.ts'
import { useViewer } from '../../viewer/viewer.ts'
import {
  type DraftTarget,
  draftName,
  draftsChanged,
  findDraft,
  type NamedDraft,
  readStoredDraft,
  type StoredDraft,
  storedDrafts,
} from './stored-drafts.ts'

/** What toasts about a text that the viewer writes are about: the newest one says what has become of it. */
export const OWN_TEXT = 'own text'

/** The text that one person has left unsent in one place. */
export type Draft = {
  userId: string
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
  /** Whether the browser has no room for it: it is lost with the page. */
  isUnsaved: () => boolean
  /** Keeps other tabs from taking the draft over while a form is open on it. Returns the function that ends this. */
  keepOpen: () => () => void
  /** Calls `listener` with each text that removeSent() is called with, by any form of this page. Returns the function that unsubscribes it. */
  onSent: (listener: (text: string) => void) => () => void
}

const sentTexts = createEmitter<{ userId: string; target: DraftTarget; text: string }>()

/**
 * The draft of one person in one place, as a form in this tab begins to write it: with the tab's own text, or with the newest
 * that another tab has left.
 */
export function openDraft(
  store: SafeStorage,
  userId: string,
  target: DraftTarget,
  { tab = tabId() } = {},
): Draft {
  const key = { userId, target, tab }
  const own = draftName(key)
  let found = findDraft(store, key)

  function load(): StoredDraft | null {
    return readStoredDraft(store, own) ?? (found ? readStoredDraft(store, found.name) : null)
  }

  function save(draft: StoredDraft): void {
    const before = load()?.text ?? ''
    if (draft.text === '' && !draft.sent) store.remove(own)
    else store.writeJson(own, { ...draft, at: Date.now() })
    if (found && found.name !== own && !store.isUnsaved(own)) void removeUnlessOpen(store, found)
    found = undefined
    // Not with each letter: every post of the viewer's own on the page would check its draft.
    if ((draft.text === '') !== (before === '')) draftsChanged.emit()
  }

  return {
    userId,
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
      for (const { name, draft } of storedDrafts(store, key)) {
        if (normalizeText(draft.text) === text) store.remove(name)
      }
      sentTexts.emit({ userId, target, text })
    },
    clear: () => save({ text: '' }),
    isUnsaved: () => store.isUnsaved(own),
    keepOpen: () => {
      const { promise: closed, resolve: close } = Promise.withResolvers<void>()
      // Locks are missing on plain http, and refused with the storage.
      navigator.locks?.request(own, { mode: 'shared' }, () => closed).catch(() => {})
      return close
    },
    onSent: (listener) =>
      sentTexts.subscribe((sent) => {
        if (sent.userId === userId && sent.target === target) listener(sent.text)
      }),
  }
}

/** Removes the draft with which another tab goes on, unless a form is still open on it, or it was changed. */
async function removeUnlessOpen(store: SafeStorage, { name, draft }: NamedDraft): Promise<void> {
  const remove = () => {
    if (readStoredDraft(store, name)?.text === draft.text) store.remove(name)
  }
  if (!navigator.locks) return remove()
  await navigator.locks
    .request(name, { ifAvailable: true }, (lock) => lock && remove())
    .catch(remove)
}

/**
 * The viewer's own draft in one place; people who share a machine never see each other's. It stays that of the viewer at
 * the first render, so that a session that ends meanwhile does not take the text away.
 */
export function useDraft(target: DraftTarget): Draft {
  const viewer = useViewer()
  const [userId] = useState(viewer.state === 'authorized' ? viewer.user.id : '')
  const draft = useMemo(() => openDraft(localStore, userId, target), [userId, target])
  useEffect(() => draft.keepOpen(), [draft])
  return draft
}
