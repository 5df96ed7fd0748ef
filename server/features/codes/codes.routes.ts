import * as calls from '../../../contract/codes.ts'
import { CODE_ATTEMPTS } from '../../../contract/constants.ts'
import { operatorEmails } from '../../kernel/config/config.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import type { Feature, Node } from '../../kernel/feature.ts'
import { mailWords } from '../../kernel/mail/mail-words.ts'
import type { Sessions } from '../sessions/sessions.service.ts'
import { codeMails } from './codes.mail.ts'
import { removeExpiredOperations, selectMailState } from './codes.repository.ts'
import { lockedFor } from './codes.service.ts'

export function registerCodes(node: Node, sessions: Sessions): Feature {
  const { route, db, config, key } = node
  route(calls.readCodeMail, async ({ params, body }, { request }) => {
    const clientHash = sessions.hashClient(body.clientToken, request)
    const mail = await selectMailState(db, { id: params.id, clientHash })
    if (!mail) throw new AppError('OPERATION_EXPIRED')
    if (mail.attempts >= CODE_ATTEMPTS) throw lockedFor(mail.secondsLeft)
    return { state: mail.state, expiresAt: Math.ceil(mail.expiresAt.getTime() / 1000) }
  })

  const { codeTtlSeconds: ttlSeconds } = config
  return {
    mails: codeMails({
      ...mailWords(config),
      key: key('codes'),
      ttlSeconds,
      operatorEmails: operatorEmails(config),
    }),
    pruning: [removeExpiredOperations],
  }
}
