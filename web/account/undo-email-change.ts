import { send } from '../api/send.ts'
import { announceSessionChange } from '../viewer/session-channel.ts'
import { reloadViewer } from '../viewer/viewer.ts'

/** What the link in the mail about a changed e-mail contains. */
export type UndoLink = { id: string; secret: string }

const HASH = /^#([0-9a-f]{32})\.([0-9a-f]{64})$/

/** Parses the part of the page's address after its `#`; returns null when some of it is missing. */
export function readUndoLink(hash: string): UndoLink | null {
  const [, id, secret] = HASH.exec(hash) ?? []
  return id && secret ? { id, secret } : null
}

/**
 * Restores the account's old e-mail. The server closes all its sessions, so each tab asks again who the viewer is.
 * Throws CallError.
 */
export async function undoEmailChange({ id, secret }: UndoLink): Promise<void> {
  // Without a token: only the link matters, and the viewer's session may be closed already.
  await send('POST /email-changes/:id/undo', { params: { id }, body: { secret } }, {})
  announceSessionChange()
  await reloadViewer()
}
