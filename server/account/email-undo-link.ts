import { createHmac, timingSafeEqual } from 'node:crypto'
import { PATHS } from '../../contract/pages.ts'

/**
 * The address that undoes an e-mail change: a page of the site at `origin`. Id and secret stand behind the `#`, which no
 * browser sends along: they reach neither a log nor another site.
 */
export function undoLink(origin: string, changeId: string, key: Buffer): string {
  return `${origin}${PATHS.emailUndo}#${changeId}.${undoSecret(changeId, key)}`
}

/** Whether a secret is that of the link of a change, in a time that does not tell where they differ. */
export function isUndoSecret(given: string, changeId: string, key: Buffer): boolean {
  const right = Buffer.from(undoSecret(changeId, key))
  const bytes = Buffer.from(given)
  return bytes.length === right.length && timingSafeEqual(bytes, right)
}

/** HMAC-SHA-256 of the change's id. The same change always has the same secret, so none is stored. */
export function undoSecret(changeId: string, key: Buffer): string {
  return createHmac('sha256', key).update(changeId).digest('hex')
}
