import { isNumber, isString, shape } from '../platform/guards.ts'
import { sessionStore } from '../platform/storage.ts'
import { anchorKey } from '../session/stored-keys.ts'

export type Anchor = {
  /** The first visible post, and its distance (px) from the top of the viewport. */
  postId: string
  top: number
  focusedId: string | undefined
  focusVisible?: boolean | undefined
  /** The cursor of the list's page with the post, and the number of posts above that page. */
  cursor: string
  above: number
  total: number
}

/** The place of an entry: an anchor in a list or, without one, the height above the viewport. */
type Place = Anchor | { y: number }

const isAnchor = shape<Anchor>({ postId: isString, top: isNumber, cursor: isString })
const isHeight = shape<{ y: number }>({ y: isNumber })
const isPlace = (value: unknown): value is Place => isAnchor(value) || isHeight(value)

/** The signs that a reader scrolls to another place. */
const SIGNS_OF_SCROLLING = ['wheel', 'touchmove', 'keydown', 'pointerdown']

/** The entry whose list keeps the place. */
let listEntry: string | undefined

export function findAnchor(entryKey: string): Anchor | null {
  const place = findPlace(entryKey)
  return place && 'postId' in place ? place : null
}

export function saveAnchor(entryKey: string, anchor: Anchor): void {
  sessionStore.writeJson(anchorKey(entryKey), anchor)
}

export function removePlace(entryKey: string): void {
  sessionStore.remove(anchorKey(entryKey))
}

/** Leaves the place of an entry to its list, which knows it by a post. */
export function keepByAnchor(entryKey: string): void {
  listEntry = entryKey
}

/** Saves the place of an entry that is left, unless it has a list. */
export function saveHeight(entryKey: string): void {
  if (entryKey === listEntry) return
  if (scrollY === 0) removePlace(entryKey)
  else sessionStore.writeJson(anchorKey(entryKey), { y: scrollY })
}

/**
 * Scrolls to the saved height of an entry, or to `otherwise`, unless its list scrolls. Waits for
 * content that makes the page high enough, until the reader scrolls or the returned function is called.
 */
export function returnToHeight(entryKey: string, otherwise: number): () => void {
  const place = findPlace(entryKey)
  const y = place && 'y' in place ? place.y : otherwise
  const stop = new AbortController()
  const observer = new ResizeObserver(scroll)
  function scroll(): void {
    if (entryKey !== listEntry) scrollTo(0, y)
    if (entryKey === listEntry || Math.abs(scrollY - y) < 1) stop.abort()
  }
  stop.signal.addEventListener('abort', () => observer.disconnect())
  for (const sign of SIGNS_OF_SCROLLING) {
    addEventListener(sign, () => stop.abort(), { passive: true, signal: stop.signal })
  }
  observer.observe(document.body)
  scroll()
  return () => stop.abort()
}

function findPlace(entryKey: string): Place | null {
  return sessionStore.readJson(anchorKey(entryKey), isPlace)
}
