import { useEffect, useMemo, useState } from 'react'
import { EMPTY_POST_BODY } from '../../../contract/post-rules.ts'
import { isString, shape } from '../../platform/guards.ts'
import { randomKey, tabId } from '../../platform/ids.ts'
import {
  localStore,
  type SafeStorage,
  sessionStore,
  switchedStore,
} from '../../platform/storage.ts'
import { hasLocks, withLock } from '../../platform/tabs.ts'
import { keptTexts } from '../../session/kept-texts.ts'
import { OUTBOX } from '../../session/stored-keys.ts'
import { isSessionClosed, useAuthorId } from '../../session/viewer.ts'
import { type DraftTarget, draftPrefix, isDraft, textsChanged } from './stored-drafts.ts'
import { append, isSame, type Written, writtenOf } from './written.ts'

/** The subject of toasts about a text that the viewer writes, which replace each other. */
export const OWN_TEXT = 'own text'

const SHARED_KEY = 'shared'

export type Draft = ReturnType<typeof openDraft>

/** `at` is in unix milliseconds. `sent` is set after a failed attempt to send the text. */
type StoredDraft = Written & { sent?: Sent; at?: number }
type Sent = Written & { key: string }
type NamedDraft = { name: string; draft: StoredDraft }

/** Opens the draft of a tab. If it has none, it begins with the newest draft of another tab. */
export function openDraft(store: SafeStorage, userId: string, target: DraftTarget, tab = tabId()) {
  const prefix = draftPrefix(userId, target)
  // Each tab has a name of its own, so that none overwrites another's draft.
  const own = prefix + tab
  let continued = readStoredDraft(store, own)
    ? undefined
    : storedDrafts(store, prefix).find(({ draft }) => !isEmpty(draft))

  function load(): StoredDraft | null {
    return (
      readStoredDraft(store, own) ?? (continued ? readStoredDraft(store, continued.name) : null)
    )
  }

  function save(draft: StoredDraft): void {
    const wasEmpty = isEmpty(load())
    // Without locks the other tab may be open: an empty record tells it that its text was not sent.
    const isTakenOver = continued !== undefined && !hasLocks()
    if (isEmpty(draft) && !draft.sent && !isTakenOver) store.remove(own)
    else store.writeJson(own, { ...draft, at: Date.now() })
    if (continued && !store.isUnsaved(own)) void removeUnlessOpen(store, continued)
    continued = undefined
    // Does not emit at each letter, because every own post on the page would check its draft.
    if (isEmpty(draft) !== wasEmpty) textsChanged.emit()
  }

  return {
    userId,
    target,
    name: own,
    read: (): Written | null => {
      const draft = load()
      return draft && !isEmpty(draft) ? writtenOf(draft) : null
    },
    write: (written: Written): void => {
      const { sent } = load() ?? {}
      save({ ...writtenOf(written), ...(sent && { sent }) })
    },
    /**
     * Removes a text that is being sent, also from the drafts of other tabs. Returns its submission
     * key, which stays the same until the text is sent, so that no retry publishes it twice.
     */
    take: (written: Written): string => {
      const kept: StoredDraft = load() ?? EMPTY_POST_BODY
      save(isSame(kept, written) ? EMPTY_POST_BODY : writtenOf(kept))
      for (const { name, draft } of storedDrafts(store, prefix)) {
        if (isSame(draft, written)) store.remove(name)
      }
      return kept.sent && isSame(kept.sent, written) ? kept.sent.key : randomKey()
    },
    /** Puts back a text that was not sent, below what was typed meanwhile. */
    giveBack: (sent: Sent): void =>
      save({ ...append(load(), sent), sent: { ...writtenOf(sent), key: sent.key } }),
    clear: (): void => save(EMPTY_POST_BODY),
    /** Returns whether the browser could not store the draft, which is then lost with the page. */
    isUnsaved: (): boolean => store.isUnsaved(own),
    /** Returns whether another tab continues a draft that is gone. Otherwise it was sent. */
    isContinuedElsewhere: (): boolean => !hasLocks() && storedDrafts(store, prefix).length > 0,
  }
}

const isEmpty = (draft: StoredDraft | null) => isSame(draft ?? EMPTY_POST_BODY, EMPTY_POST_BODY)

/** Keeps other tabs from taking a draft over, until the returned function is called. */
export function keepOpen({ name }: Pick<Draft, 'name'>): () => void {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  // A browser that blocks the storage refuses locks too.
  withLock(name, { mode: 'shared' }, () => closed).catch(() => {})
  return close
}

/** Returns the stored drafts, newest first. */
function storedDrafts(store: SafeStorage, prefix: string): NamedDraft[] {
  return store
    .keys(prefix)
    .map((name) => ({ name, draft: readStoredDraft(store, name) }))
    .filter((stored): stored is NamedDraft => stored.draft !== null)
    .sort((one, other) => (other.draft.at ?? 0) - (one.draft.at ?? 0))
}

/** Reads a draft. Drops an invalid `sent`, because the text is worth more than its key. */
function readStoredDraft(store: SafeStorage, name: string): StoredDraft | null {
  const stored: StoredDraft | null = store.readJson(name, isDraft)
  if (!stored) return null
  const { sent, at } = stored
  return {
    ...writtenOf(stored),
    ...(isSent(sent) && { sent }),
    ...(typeof at === 'number' && { at }),
  }
}

const isSent = shape<Sent>({ text: isString, key: isString })

async function removeUnlessOpen(store: SafeStorage, { name, draft }: NamedDraft): Promise<void> {
  const remove = () => {
    const now = readStoredDraft(store, name)
    if (now && isSame(now, draft)) store.remove(name)
  }
  await withLock(name, { ifAvailable: true }, (lock) => lock && remove()).catch(remove)
}

/** Nothing of a person whose session was closed elsewhere is stored. */
const draftStore = switchedStore(() => (isSessionClosed() ? keptTexts : localStore))

/** Returns the draft of the viewer at the first render, even if the session ends meanwhile. */
export function useDraft(target: DraftTarget): Draft {
  const [userId] = useState(useAuthorId())
  const draft = useMemo(() => openDraft(draftStore, userId, target), [userId, target])
  useEffect(() => keepOpen(draft), [draft])
  return draft
}

/**
 * The text that a link has brought into this tab. Anybody can write such a link, so the text is a
 * part of the draft only once the person changes or sends it.
 */
export const sharedText = {
  read: (): string => sessionStore.read(SHARED_KEY) ?? '',
  write: (text: string): void => sessionStore.write(SHARED_KEY, text),
  remove: (): void => sessionStore.remove(SHARED_KEY),
}

/** Appends a text to a draft, unless an earlier attempt has appended it. */
export function appendToDraft(draft: Draft, more: Written): void {
  draft.write(append(draft.read(), more))
}

/** Counts the drafts of a user, and the user's texts in the outbox. */
export function countUnsentTexts(userId: string): number {
  const names = ['draft', OUTBOX].flatMap((kind) => localStore.keys(`${kind} ${userId} `))
  return names.filter((name) => localStore.readJson(name, isDraft)?.text !== '').length
}
