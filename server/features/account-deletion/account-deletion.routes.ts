import * as calls from '../../../contract/account-deletion.ts'
import type { Answer, Input } from '../../../contract/endpoint.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Http, Viewer } from '../../kernel/http/route.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import { noticeOptions } from '../../kernel/mail/mail-words.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { requestCharge } from '../codes/code-quota.ts'
import { redeemCode } from '../codes/codes.service.ts'
import { lockViewer, type Sessions } from '../sessions/sessions.service.ts'
import { accountDeletionMails } from './account-deletion.mail.ts'
import { selectErasureTime } from './account-deletion.repository.ts'
import { deleteAccount, startDeletion } from './account-deletion.service.ts'
import { transitionsJob } from './account-transitions.service.ts'

const ACCOUNT_DELETIONS: Limit = {
  name: 'account-deletion',
  rates: [
    [5, 3600],
    [15, 86_400],
  ],
  refusal: 'Код для удаления аккаунта уже запрашивали: следующий — через {time}',
  isShared: true,
}

export function registerAccountDeletion(
  context: ServerContext,
  sessions: Sessions,
): BackgroundWork {
  const { route, db, limits, publishChange, recordAccess } = context

  route(calls.startAccountDeletion, async ({ body, viewer }, http) => {
    const { request } = http
    const charges = [requestCharge(request.ip)]
    await limits.charge([...charges, { limit: ACCOUNT_DELETIONS, key: viewer.userId }])
    const client = sessions.startingClientOf(body.clientToken, request)
    const networkHash = sessions.hashNetwork(request.ip)
    const id = await startDeletion(context, viewer, {
      client,
      networkHash,
      ip: request.ip,
      charges,
    })
    sessions.setBrowserOfStart(http, id)
    return { id }
  })

  route(calls.verifyAccountDeletion, verifyDeletion, { answersClosedSession: true })

  return {
    jobs: { 'move-accounts': transitionsJob(context) },
    mails: accountDeletionMails(noticeOptions(context.config)),
  }

  /** Checks the session itself: the deletion has closed it if the answer is asked for again. */
  async function verifyDeletion(
    { params, body, viewer }: Input<typeof calls.verifyAccountDeletion> & { viewer: Viewer },
    { request, reply }: Http,
  ): Promise<Answer<typeof calls.verifyAccountDeletion>> {
    const { userId } = viewer
    const client = sessions.clientOf(body.clientToken, request)
    const guess = { id: params.id, userId, ...client, ip: request.ip, code: body.confirmCode }
    const { result: erasedAt, isRepeated } = await redeemCode(
      context,
      { ...guess, purpose: 'account-deletion' },
      {
        lock: (tx) => lockViewer(tx, viewer),
        async redeem(tx) {
          await recordAccess?.(tx, { action: 'delete-account', userId, request })
          return deleteAccount(tx, userId)
        },
        toStored: () => ({ userId, outcome: {} }),
        async repeat() {
          const erasedAt = await selectErasureTime(db, userId)
          if (erasedAt === undefined) throw new AppError('OPERATION_EXPIRED')
          return erasedAt
        },
      },
    )
    await publishChange({ kind: 'edited' })
    sessions.clearCookie(reply)
    logEvent(request, isRepeated ? 'answer repeated' : 'account deleted', { userId })
    return { erasedAt }
  }
}
