import type { Api } from '../../contract/api.ts'
import type { Input } from '../../contract/endpoint.ts'
import type { Attempt, Start } from '../codes/use-mailed-code.ts'
import { call } from '../http/call.ts'
import { identify } from './identify.ts'
import { savedInvitation } from './invitation.queries.ts'

export async function startSignIn({ email, way }: Start): Promise<{ id: string }> {
  const body = { email, ...(await identify()) }
  return way === 'registration'
    ? call('POST /registrations', { body: { ...body, ...savedInvitation() } })
    : call('POST /logins', { body })
}

type Verification = Input<Api['POST /logins/:id/verify']>

export function verifySignIn({ params, body }: Verification, { way, restore }: Start & Attempt) {
  const attempt = { ...body, ...(restore && { restore }) }
  return way === 'registration'
    ? call('POST /registrations/:id/verify', { params, body: { ...attempt, ...savedInvitation() } })
    : call('POST /logins/:id/verify', { params, body: attempt })
}
