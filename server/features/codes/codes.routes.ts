import { readCodeMail } from '../../../contract/codes.ts'
import { CODE_ATTEMPTS } from '../../../contract/constants.ts'
import type { Db } from '../../kernel/db/database.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { Sessions } from '../sessions/sessions.service.ts'
import { selectMailState } from './codes.repository.ts'
import { lockedFor } from './codes.service.ts'

type Options = { route: Route; db: Db; sessions: Pick<Sessions, 'hashClient'> }

export function registerCodes({ route, db, sessions }: Options): void {
  route(readCodeMail, async ({ params, body }, { request }) => {
    const clientHash = sessions.hashClient(body.clientToken, request)
    const mail = await selectMailState(db, { id: params.id, clientHash })
    if (!mail) throw new AppError('OPERATION_EXPIRED')
    if (mail.attempts >= CODE_ATTEMPTS) throw lockedFor(mail.secondsLeft)
    return { state: mail.state, expiresAt: Math.ceil(mail.expiresAt.getTime() / 1000) }
  })
}
