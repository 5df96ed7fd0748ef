import type { Api } from '../../contract/api.ts'
import type { Input } from '../../contract/endpoint.ts'
import { call } from '../http/call.ts'
import { fallBackOn } from '../http/call-error.ts'
import { sendDelayed } from '../http/delayed-write.ts'
import { waitMessage } from '../http/error-message.ts'
import { send } from '../http/send.ts'
import { announceSessionChange, reloadViewer } from '../session/viewer.ts'
import { write } from '../session/write.ts'
import { toast } from '../ui/overlay/toaster.tsx'

/** Resolves if the name is free. Throws CallError. */
export const checkUsername = (username: string, signal: AbortSignal) =>
  call('GET /users/:username/validation', { params: { username } }, { signal })

/** Saves the name. Retries after a short limit, which a toast shows. Throws CallError. */
export const saveUsername = (username: string) =>
  write(
    'PATCH /users/current/profile',
    { body: { username } },
    { onLimit: (error) => toast({ text: waitMessage(error) }) },
  )

export const startEmailChange = (body: { email: string; clientToken: string }) =>
  write('PUT /users/current/email', { body })

export const verifyEmailChange = (input: Input<Api['PUT /users/current/email/:id/verify']>) =>
  write('PUT /users/current/email/:id/verify', input)

/** Undoes an e-mail change. The server closes all sessions, so each tab reads the viewer again. */
export async function undoEmailChange({ id, secret }: { id: string; secret: string }) {
  // The link alone authorizes this: the viewer's session may be closed already.
  await send('POST /email-changes/:id/undo', { params: { id }, body: { secret } }, {})
  announceSessionChange()
  reloadViewer()
}

/** Closes the session. Succeeds also if it was closed elsewhere. Throws CallError. */
export async function logOut(): Promise<void> {
  await sendDelayed()
  await fallBackOn(401, write('DELETE /sessions/current', {}), undefined)
}
