import { useEffect, useMemo, useState } from 'react'
import { normalizeText } from '../../../contract/text.ts'
import { createEmitter } from '../../platform/atom.ts'
import { randomKey } from '../../platform/random-key.ts'
import { localStore, type SafeStorage } from '../../platform/storage.ts'
import { withLock } from '../../platform/with-lock.ts'
import { tabId } from '../../session/tab-id.ts'
import { useViewer } from '../../session/viewer.ts'
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

/** Toasts about a text that the viewer writes replace each other. */
export const OWN_TEXT = 'own text'

export type Draft = {
  userId: string
  read: () => string | null
  write: (text: string) => void
  /** A text has the same key until it was sent, so that no retry publishes it twice. */
  submissionKey: (text: string) => string
  /** Removes `text`, which the server has published, unless another one was typed meanwhile. */
  removeSent: (text: string) => void
  clear: () => void
  /** The browser may have no room for the draft, which is then lost with the page. */
  isUnsaved: () => boolean
  /** Keeps other tabs from taking the draft over. Returns the function that ends this. */
  keepOpen: () => () => void
  /** `listener` gets each text that a form of this page has sent. Returns its unsubscription. */
  onSent: (listener: (text: string) => void) => () => void
}

const sentTexts = createEmitter<{ userId: string; target: DraftTarget; text: string }>()

/** A tab that has no draft of its own begins with the newest of another tab. */
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
    // With each letter, every post of the viewer's own on the page would check its draft.
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
      // Locks are refused with the storage.
      withLock(own, { mode: 'shared' }, () => closed).catch(() => {})
      return close
    },
    onSent: (listener) =>
      sentTexts.subscribe((sent) => {
        if (sent.userId === userId && sent.target === target) listener(sent.text)
      }),
  }
}

async function removeUnlessOpen(store: SafeStorage, { name, draft }: NamedDraft): Promise<void> {
  const remove = () => {
    if (readStoredDraft(store, name)?.text === draft.text) store.remove(name)
  }
  await withLock(name, { ifAvailable: true }, (lock) => lock && remove()).catch(remove)
}

/**
 * The draft stays that of the viewer at the first render, so that a session that ends meanwhile
 * does not take the text away.
 */
export function useDraft(target: DraftTarget): Draft {
  const viewer = useViewer()
  const [userId] = useState(viewer.state === 'authorized' ? viewer.user.id : '')
  const draft = useMemo(() => openDraft(localStore, userId, target), [userId, target])
  useEffect(() => draft.keepOpen(), [draft])
  return draft
}
