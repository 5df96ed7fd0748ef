import { send } from '../api/send.ts'
import { announceSessionChange } from '../viewer/session-channel.ts'
import { reloadViewer } from '../viewer/viewer.ts'

/** What the link in a notice of a changed e-mail carries. */
export type UndoLink = { id: string; secret: string }

const HASH = /^#([0-9a-f]{32})\.([0-9a-f]{64})$/

/** Reads the link from the part of the page's address behind its `#`; null where some of it is missing. */
export function readUndoLink(hash: string): UndoLink | null {
  const [, id, secret] = HASH.exec(hash) ?? []
  return id && secret ? { id, secret } : null
}

/**
 * Gives the account its old e-mail back. All its sessions are closed by it, so each tab asks anew who the viewer is.
 * Throws CallError.
 */
export async function undoEmailChange({ id, secret }: UndoLink): Promise<void> {
  // Without a token: the link alone counts, and the viewer's session may be closed already.
  await send('POST /email-changes/:id/undo', { params: { id }, body: { secret } }, {})
  announceSessionChange()
  await reloadViewer()
}
