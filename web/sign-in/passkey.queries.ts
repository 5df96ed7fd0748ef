import type { Assertion } from '../../contract/passkeys.ts'
import { call } from '../http/call.ts'
import { identify } from './identify.ts'

export async function startPasskeySignIn() {
  return call('POST /passkey-logins', { body: await identify() })
}

export async function verifyPasskeySignIn(id: string, assertion: Assertion, restore?: true) {
  const { clientToken } = await identify()
  const body = { assertion, clientToken, ...(restore && { restore }) }
  await call('POST /passkey-logins/:id/verify', { params: { id }, body })
}
