import { call } from '../api/call.ts'
import { clientToken } from '../api/device.ts'
import { changeViewer } from '../viewer/viewer.ts'

/** An e-mail change that waits for its code. `sentAt` in unix milliseconds. */
export type EmailChange = { id: string; email: string; sentAt: number }

/** Has a code mailed to the new address. Throws CallError, DeviceError. */
export async function startEmailChange(email: string): Promise<EmailChange> {
  const body = { email, clientToken: await clientToken() }
  const { id } = await call('PUT /users/current/email', { body })
  return { id, email, sentAt: Date.now() }
}

/** Completes the change with the mailed code. Throws CallError, DeviceError. */
export async function verifyEmailChange(change: EmailChange, confirmCode: string): Promise<void> {
  const body = { confirmCode, clientToken: await clientToken() }
  const params = { id: change.id }
  changeViewer(await call('PUT /users/current/email/:id/verify', { params, body }))
}
