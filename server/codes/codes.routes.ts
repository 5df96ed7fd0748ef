import { readCodeMail } from '../../contract/codes.ts'
import type { Features } from '../features.ts'
import { AppError } from '../http/app-error.ts'
import { selectMailState } from './codes.repository.ts'

export function registerCodes({ route, db, sessions }: Features): void {
  route(readCodeMail, async ({ params, body }) => {
    const clientHash = sessions.hashClient(body.clientToken)
    const state = await selectMailState(db, { id: params.id, clientHash })
    if (!state) throw new AppError('OPERATION_EXPIRED')
    return { state }
  })
}
