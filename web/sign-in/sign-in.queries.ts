import type { Start } from '../codes/use-mailed-code.ts'
import { call } from '../http/call.ts'
import { identify } from './identify.ts'
import { savedInvitation } from './invitation.queries.ts'

export async function startSignIn({ email, way }: Start): Promise<{ id: string }> {
  const body = { email, ...(await identify()) }
  return way === 'registration'
    ? call('POST /registrations', { body: { ...body, ...savedInvitation() } })
    : call('POST /logins', { body })
}

type Verification = {
  params: { id: string }
  body: { confirmCode: string; clientToken: string; restore?: true }
}

export function verifySignIn({ params, body }: Verification, way: Start['way']) {
  return way === 'registration'
    ? call('POST /registrations/:id/verify', { params, body: { ...body, ...savedInvitation() } })
    : call('POST /logins/:id/verify', { params, body })
}
