import { startAccountDeletion, verifyAccountDeletion } from '../../../contract/account-deletion.ts'
import type { Db } from '../../kernel/db/database.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Route } from '../../kernel/http/route.ts'
import type { NoteAccess } from '../../kernel/journal/access-journal.ts'
import type { Limits } from '../../kernel/limits/rate-limits.ts'
import { lockViewer } from '../account/account.service.ts'
import { type CodesOptions, redeemCode } from '../codes/codes.service.ts'
import type { Sessions } from '../sessions/sessions.service.ts'
import { deleteAccount, startDeletion } from './account-deletion.service.ts'

type Options = {
  route: Route
  db: Db
  limits: Pick<Limits, 'accountDeletions' | 'codeRequests'>
  sessions: Pick<Sessions, 'hashClient' | 'clearCookie'>
  codes: CodesOptions
  /** Invalidates cached reads on every node: awaited after the commit and before the response. */
  invalidate: () => Promise<void>
  noteAccess: NoteAccess | undefined
}

export function registerAccountDeletion(options: Options): void {
  const { route, db, limits, sessions, codes, invalidate, noteAccess } = options

  route(startAccountDeletion, async ({ body, viewer }, { request }) => {
    await limits.accountDeletions.charge(viewer.userId)
    await limits.codeRequests.chargeNetwork(request.ip)
    const clientHash = sessions.hashClient(body.clientToken)
    return { id: await startDeletion(db, viewer, { clientHash, ip: request.ip }, codes) }
  })

  route(verifyAccountDeletion, async ({ params, body, viewer }, { request, reply }) => {
    const { userId } = viewer
    const clientHash = sessions.hashClient(body.clientToken)
    const guess = { id: params.id, userId, clientHash, ip: request.ip, code: body.confirmCode }
    const erasedAt = await redeemCode(db, { ...guess, purpose: 'account-deletion' }, codes, {
      lock: (tx) => lockViewer(tx, viewer),
      async redeem(tx) {
        await noteAccess?.(tx, { action: 'delete-account', userId, request })
        return deleteAccount(tx, userId)
      },
    })
    await invalidate()
    sessions.clearCookie(reply)
    logEvent(request, 'account deleted', { userId })
    return { erasedAt }
  })
}
