import type { Api } from '../../contract/api.ts'
import type { Input } from '../../contract/endpoint.ts'
import { write } from '../session/write.ts'

export const startDeletion = ({ clientToken }: { clientToken: string }) =>
  write('POST /users/current/deletion', { body: { clientToken } })

export const verifyDeletion = (input: Input<Api['POST /users/current/deletion/:id/verify']>) =>
  write('POST /users/current/deletion/:id/verify', input)
