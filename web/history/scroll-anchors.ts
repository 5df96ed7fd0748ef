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

const ANCHORS_STORED_MAX = 100

export function findAnchor(entryKey: string): Anchor | undefined {
  return storedAnchors().find(([key]) => key === entryKey)?.[1]
}

/** Stores the anchor of an entry, or removes it if there is none. */
export function saveAnchor(entryKey: string, anchor?: Anchor): void {
  const anchors = storedAnchors().filter(([key]) => key !== entryKey)
  if (anchor) anchors.push([entryKey, anchor])
  sessionStore.writeJson(ANCHORS_KEY, anchors.slice(-ANCHORS_STORED_MAX))
}

function storedAnchors(): [entryKey: string, Anchor][] {
  return sessionStore.readJson(ANCHORS_KEY, areAnchors) ?? []
}

const isAnchor = shape<Anchor>({ postId: isString, top: isNumber, cursor: isString })
const areAnchors = arrayOf(
  (entry): entry is [string, Anchor] => Array.isArray(entry) && isAnchor(entry[1]),
)
