import * as calls from '../../../contract/account-deletion.ts'
import type { Feature, Node } from '../../kernel/feature.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { mailWords } from '../../kernel/mail/mail-words.ts'
import { CODE_REQUESTS } from '../codes/code-quota.ts'
import { redeemCode } from '../codes/codes.service.ts'
import { lockViewer, type Sessions } from '../sessions/sessions.service.ts'
import { accountDeletionMails } from './account-deletion.mail.ts'
import { deleteAccount, startDeletion } from './account-deletion.service.ts'
import { moveAccountsJob } from './account-moves.service.ts'

const ACCOUNT_DELETIONS: Limit = {
  name: 'account-deletion',
  rates: [
    [5, 3600],
    [15, 86_400],
  ],
  refusal: 'Код для удаления аккаунта уже запрашивали: следующий — через {time}',
  isShared: true,
}

export function registerAccountDeletion(node: Node, sessions: Sessions): Feature {
  const { route, limits, publishChange, noteAccess } = node

  route(calls.startAccountDeletion, async ({ body, viewer }, { request }) => {
    await limits.charge([
      { limit: CODE_REQUESTS, ip: request.ip },
      { limit: ACCOUNT_DELETIONS, key: viewer.userId },
    ])
    const clientHash = sessions.hashClient(body.clientToken, request)
    const networkHash = sessions.hashNetwork(request.ip)
    const client = { clientHash, networkHash, ip: request.ip }
    return { id: await startDeletion(node, viewer, client) }
  })

  route(calls.verifyAccountDeletion, async ({ params, body, viewer }, { request, reply }) => {
    const { userId } = viewer
    const clientHash = sessions.hashClient(body.clientToken, request)
    const guess = { id: params.id, userId, clientHash, ip: request.ip, code: body.confirmCode }
    const erasedAt = await redeemCode(
      node,
      { ...guess, purpose: 'account-deletion' },
      {
        lock: (tx) => lockViewer(tx, viewer),
        async redeem(tx) {
          await noteAccess?.(tx, { action: 'delete-account', userId, request })
          return deleteAccount(tx, userId)
        },
      },
    )
    await publishChange({ kind: 'edited' })
    sessions.clearCookie(reply)
    logEvent(request, 'account deleted', { userId })
    return { erasedAt }
  })

  return {
    jobs: { 'move-accounts': moveAccountsJob(node) },
    mails: accountDeletionMails(mailWords(node.config)),
  }
}
