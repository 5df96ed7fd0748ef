import { arrayOf, isNumber, isString, shape } from '../platform/guards.ts'
import { sessionStore } from '../platform/storage.ts'
import { ANCHORS_KEY } from '../session/stored-keys.ts'

/** Where an entry of the browser's history was left. */
export type Anchor = {
  /** The first visible post, and its distance (px) from the top of the viewport. */
  postId: string
  top: number
  focusedId: string | undefined
  /** Whether the focus was by keyboard, and so visible. */
  focusVisible?: boolean | undefined
  /** Where the page of its list begins that has the post, and how many posts stand above it. */
  cursor: string
  above: number
  total: number
}

const ANCHORS_STORED_MAX = 20

let anchors: Map<string, Anchor> | undefined

export function findAnchor(entryKey: string): Anchor | undefined {
  return known().get(entryKey)
}

/** Who reloads at the very top wants what is new, so that anchor is not stored. */
export function saveAnchor(entryKey: string, anchor: Anchor, isAtTop: boolean): void {
  const all = known()
  all.delete(entryKey)
  all.set(entryKey, anchor)
  const stored = [...all].filter(([key]) => key !== entryKey || !isAtTop)
  sessionStore.writeJson(ANCHORS_KEY, stored.slice(-ANCHORS_STORED_MAX))
}

/** Forgets where lists were left: the anchors name what a user who has logged out has read. */
export function forgetAnchors(): void {
  anchors = undefined
}

function known(): Map<string, Anchor> {
  anchors ??= new Map(sessionStore.readJson(ANCHORS_KEY, areAnchors))
  return anchors
}

const isAnchor = shape<Anchor>({ postId: isString, top: isNumber, cursor: isString })
const areAnchors = arrayOf(
  (entry): entry is [string, Anchor] => Array.isArray(entry) && isAnchor(entry[1]),
)
