import { arrayOf, isNumber, isString, shape } from '../platform/guards.ts'
import { sessionStore } from '../platform/storage.ts'
import { ANCHORS_KEY } from '../session/stored-keys.ts'

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

const ANCHORS_STORED_MAX = 20

let anchors: Map<string, Anchor> | undefined

export function findAnchor(entryKey: string): Anchor | undefined {
  return storedAnchors().get(entryKey)
}

/** Saves an anchor. At the top it is not stored, because a reload there should show new posts. */
export function saveAnchor(entryKey: string, anchor: Anchor, isAtTop: boolean): void {
  const all = storedAnchors()
  all.delete(entryKey)
  all.set(entryKey, anchor)
  const stored = [...all].filter(([key]) => key !== entryKey || !isAtTop)
  sessionStore.writeJson(ANCHORS_KEY, stored.slice(-ANCHORS_STORED_MAX))
}

export function forgetAnchors(): void {
  anchors = undefined
}

function storedAnchors(): Map<string, Anchor> {
  anchors ??= new Map(sessionStore.readJson(ANCHORS_KEY, areAnchors))
  return anchors
}

const isAnchor = shape<Anchor>({ postId: isString, top: isNumber, cursor: isString })
const areAnchors = arrayOf(
  (entry): entry is [string, Anchor] => Array.isArray(entry) && isAnchor(entry[1]),
)
