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

const isAnchor = shape<Anchor>({ postId: isString, top: isNumber, cursor: isString })

export function findAnchor(entryKey: string): Anchor | null {
  return sessionStore.readJson(anchorKey(entryKey), isAnchor)
}

export function saveAnchor(entryKey: string, anchor: Anchor): void {
  sessionStore.writeJson(anchorKey(entryKey), anchor)
}

export function removeAnchor(entryKey: string): void {
  sessionStore.remove(anchorKey(entryKey))
}
