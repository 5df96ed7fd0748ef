import { useQuery } from '@tanstack/react-query'
import type { Attestation, Passkey } from '../../contract/passkeys.ts'
import { call } from '../http/call.ts'
import { queryClient } from '../http/query-client.ts'
import { write } from '../session/write.ts'

const PASSKEYS = ['passkeys']

/** Reads the passkeys at each opening, because other devices change them. */
export function usePasskeys() {
  return useQuery({
    queryKey: PASSKEYS,
    queryFn: async ({ signal }) =>
      (await call('GET /users/current/passkeys', {}, { signal })).passkeys,
    staleTime: 0,
  })
}

function change(update: (passkeys: Passkey[]) => Passkey[]): void {
  queryClient.setQueryData<Passkey[]>(PASSKEYS, (passkeys) => passkeys && update(passkeys))
}

export const startPasskey = () => write('POST /users/current/passkeys', {})

/** Adds a passkey that the browser has created. Throws CallError. */
export async function addPasskey({ id, body }: { id: string; body: Attestation }): Promise<void> {
  const added = await write('POST /users/current/passkeys/:id/verify', { params: { id }, body })
  change((passkeys) => [added, ...passkeys.filter((passkey) => passkey.id !== added.id)])
}

export async function renamePasskey({ id, name }: { id: string; name: string }): Promise<void> {
  const input = { params: { id }, body: { name } }
  const renamed = await write('PATCH /users/current/passkeys/:id', input)
  change((passkeys) => passkeys.map((passkey) => (passkey.id === id ? renamed : passkey)))
}

export async function removePasskey(id: string): Promise<void> {
  await write('DELETE /users/current/passkeys/:id', { params: { id } })
  change((passkeys) => passkeys.filter((passkey) => passkey.id !== id))
}
