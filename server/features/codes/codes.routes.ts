import * as calls from '../../../contract/codes.ts'
import { CODE_ATTEMPTS } from '../../../contract/constants.ts'
import { operatorEmails } from '../../kernel/config/config.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import type { Sessions } from '../sessions/sessions.service.ts'
import { codeMails } from './codes.mail.ts'
import { removeExpiredOperations, selectMailState } from './codes.repository.ts'
import { lockedError } from './codes.service.ts'
import { removeOldMailedNetworks } from './mailed-networks.repository.ts'
import { removeOldRedeemedCodes, selectRepeatEnd } from './redeemed-codes.repository.ts'

export function registerCodes(context: ServerContext, sessions: Sessions): BackgroundWork {
  const { route, db, config, key } = context
  route(calls.readCodeMail, async ({ params, body }, { request }) => {
    const operation = { id: params.id, ...sessions.clientOf(body.clientToken, request) }
    const mail = await selectMailState(db, operation)
    if (mail && mail.attempts >= CODE_ATTEMPTS) throw lockedError(mail)
    // The answer to the code may be lost: the browser can send the code of this mail again.
    const shown = mail ?? (await selectRepeatEnd(db, operation))
    if (!shown) throw new AppError('OPERATION_EXPIRED')
    const { state, expiresAt } = { state: 'sent' as const, ...shown }
    return { state, expiresAt: Math.ceil(expiresAt.getTime() / 1000) }
  })

  const { codeTtlSeconds: ttlSeconds } = config
  return {
    mails: codeMails({
      ...noticeOptions(config),
      key: key('codes'),
      ttlSeconds,
      operatorEmails: operatorEmails(config),
    }),
    pruning: [removeExpiredOperations, removeOldRedeemedCodes, removeOldMailedNetworks],
  }
}
