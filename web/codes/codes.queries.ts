import { call } from '../http/call.ts'
import { clientToken } from '../session/client-token.ts'

/** Reads the state of the mail with a code. Throws CallError. */
export async function readCodeMail(id: string, signal: AbortSignal) {
  const body = { clientToken: await clientToken() }
  return call('POST /codes/:id/mail', { params: { id }, body }, { signal })
}
