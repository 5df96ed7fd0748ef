import { isNumber, isString, shape } from '../platform/guards.ts'
import { sessionStore } from '../platform/storage.ts'
import { anchorKey } from '../platform/stored-keys.ts'

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

/** The place of an entry: the height (px) above the viewport and, in a list, the post that was read. */
export type Place = { y: number; anchor?: Anchor | null }

const isAnchor = shape<Anchor>({ postId: isString, top: isNumber, cursor: isString })
const isPlace = shape<Place>({ y: isNumber, anchor: (it) => it === undefined || isAnchor(it) })

/** The signs that a reader scrolls to another place. */
const SIGNS_OF_SCROLLING = ['wheel', 'touchmove', 'keydown', 'pointerdown']

/** The entry whose page is in sight. The current entry's page may not be rendered yet. */
let inSight: string | undefined
/** Whether the page in sight, or its list, has still to return to its place. */
let isReturning = false
let list: { entryKey: string; anchor: () => Anchor | null } | undefined

export function findPlace(entryKey: string): Place | null {
  return sessionStore.readJson(anchorKey(entryKey), isPlace)
}

/** Lets a list that has been read name the post at which its reader is. */
export function keepByAnchor(entryKey: string, anchor: () => Anchor | null): () => void {
  const own = { entryKey, anchor }
  list = own
  isReturning = false
  return () => {
    if (list === own) list = undefined
  }
}

/** Saves the place of the page in sight, which is that of `entryKey` until one has been shown. */
export function savePlace(entryKey: string, isUnloading: boolean): void {
  const key = inSight ?? entryKey
  if (isReturning) return
  const anchor = list?.entryKey === key ? list.anchor() : null
  // A reload at the top should show new posts.
  const isAtTop = scrollY === 0 && (!anchor || (isUnloading && anchor.above === 0))
  if (isAtTop) sessionStore.remove(anchorKey(key))
  else sessionStore.writeJson(anchorKey(key), { y: scrollY, ...(anchor && { anchor }) })
}

/**
 * Shows a page where it was left, or at `otherwise`. Its list scrolls to an anchor by itself. Waits
 * for content that makes the page high enough, until the reader scrolls or the returned function is
 * called.
 */
export function returnToPlace(entryKey: string, otherwise: number): (() => void) | undefined {
  const { y, anchor } = findPlace(entryKey) ?? { y: otherwise }
  isReturning = true
  if (anchor) return
  const stop = new AbortController()
  const observer = new ResizeObserver(scroll)
  function scroll(): void {
    scrollTo(0, y)
    if (Math.abs(scrollY - y) < 1) stop.abort()
  }
  stop.signal.addEventListener('abort', () => {
    observer.disconnect()
    isReturning = false
  })
  for (const sign of SIGNS_OF_SCROLLING) {
    addEventListener(sign, () => stop.abort(), { passive: true, signal: stop.signal })
  }
  observer.observe(document.body)
  scroll()
  return () => stop.abort()
}

export function comeInSight(entryKey: string): void {
  inSight = entryKey
  isReturning = false
}
