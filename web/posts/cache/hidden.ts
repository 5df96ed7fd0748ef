import { createEmitter, type ReadableAtom, useAtom } from '../../platform/atom.ts'
import { arrayOf, isString, shape } from '../../platform/guards.ts'
import { localStore, storedElsewhere } from '../../platform/storage.ts'
import { HIDDEN_KEY } from '../../platform/stored-keys.ts'
import { viewer, viewerId } from '../../session/viewer.ts'

/** The authors (by their ids) and the words that the user `by` hides. */
type Hidden = {
  by: string
  authors: readonly string[]
  words: readonly string[]
  /** The ids of the posts that the user reported last. */
  reported?: readonly string[]
}

const NOTHING: Hidden = { by: '', authors: [], words: [] }

let stored: Hidden | undefined

const changes = createEmitter()

// Without a listener too: hide() would overwrite what another tab has stored.
storedElsewhere.subscribe(({ key }) => {
  if (!key || key === HIDDEN_KEY) invalidate()
})

/** What the viewer hides; until the viewer is known, what is stored, so that nothing flashes. */
export const hidden: ReadableAtom<Hidden> = {
  get: () => {
    const { state } = viewer.get()
    const isOthers = state === 'signed-out' || (state === 'authorized' && viewerId() !== read().by)
    return isOthers ? NOTHING : read()
  },
  subscribe: (listener) => {
    const stops = [changes.subscribe(listener), viewer.subscribe(listener)]
    return () => stops.forEach((stop) => void stop())
  },
}

export function useHidden(): Hidden {
  return useAtom(hidden, NOTHING)
}

export function useIsMuted(authorId = ''): boolean {
  return useHidden().authors.includes(authorId)
}

/** Stores what a user hides, and replaces what another user has hidden in this browser. */
export function hide(change: Partial<Omit<Hidden, 'by'>>, by = viewerId()): void {
  if (by === null) return
  const known = read()
  const next = { ...(known.by === by ? known : NOTHING), ...change, by }
  if (JSON.stringify(next) === JSON.stringify(known)) return
  localStore.writeJson(HIDDEN_KEY, next)
  invalidate()
}

export function forgetHidden(): void {
  localStore.remove(HIDDEN_KEY)
  invalidate()
}

function read(): Hidden {
  stored ??= localStore.readJson(HIDDEN_KEY, isHidden) ?? NOTHING
  return stored
}

function invalidate(): void {
  stored = undefined
  changes.emit()
}

const areStrings = arrayOf(isString)
const isHidden = shape<Hidden>({
  by: isString,
  authors: areStrings,
  words: areStrings,
  reported: (ids) => ids === undefined || areStrings(ids),
})
