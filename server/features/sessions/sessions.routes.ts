import * as calls from '../../../contract/sessions.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { requireOwnOrigin } from '../../kernel/http/headers.ts'
import { logEvent } from '../../kernel/http/request-log.ts'
import type { Limit } from '../../kernel/limits/limits.ts'
import type { BackgroundWork, ServerContext } from '../../kernel/server-context.ts'
import { removeOldClients } from './known-clients.repository.ts'
import { refreshSession } from './refresh.service.ts'
import { deleteSession, removeExpiredSessions, selectSessions } from './sessions.repository.ts'
import { closeOtherSessions, type Sessions } from './sessions.service.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const REFRESHES: Limit = {
  name: 'refresh',
  rates: [[150, 300]],
  refusal: 'Вход обновляют слишком часто: следующий раз — через {time}',
}

/** Limits a network whose cookies belong to no session. */
const FAILED_REFRESHES: Limit = {
  name: 'failed-refresh',
  rates: [[600, 300]],
  refusal: 'Из вашей сети слишком много запросов: следующий — через {time}',
}

export function registerSessions(context: ServerContext, sessions: Sessions): BackgroundWork {
  const { route, db, limits } = context
  const { publicUrl } = context.config
  route(calls.refreshSession, async ({ body }, { request, reply }) => {
    requireOwnOrigin(request, publicUrl)
    const presented = sessions.readCookie(request)
    const proof = sessions.readProof(body.clientToken, request)
    if (!proof.tokenHash && !proof.browserHash) {
      throw new AppError('INVALID_REQUEST', { message: 'Не хватает поля «clientToken»' })
    }
    const networkHash = sessions.hashNetwork(request.ip)
    const charge = (sessionId: string) => limits.charge([{ limit: REFRESHES, key: sessionId }])
    const client = { networkHash, charge, secretKey: sessions.secretKey }
    const refreshed = presented && (await refreshSession(db, presented, { ...proof, ...client }))
    if (refreshed?.state === 'copied') {
      const { userId } = refreshed
      logEvent(request, 'session closed: its cookie was copied', { level: 'warn', userId })
    }
    if (!presented || refreshed?.state !== 'live') {
      // Only failed refreshes count for the network, because many people share one address.
      await limits.charge([{ limit: FAILED_REFRESHES, ip: request.ip }])
      if (refreshed?.state !== 'closed') throw new AppError('UNAUTHORIZED')
      throw new AppError('SESSION_CLOSED', { message: refreshed.reason })
    }
    if (refreshed.rotation) {
      sessions.setCookie(reply, refreshed.rotation.secret, refreshed.rotation.age)
    }
    return sessions.issueToken({ userId: refreshed.userId, sessionId: presented.id })
  })

  route(calls.listSessions, async ({ viewer }) => ({ sessions: await selectSessions(db, viewer) }))

  route(calls.closeSession, async ({ params, viewer }) => {
    if (params.id === viewer.sessionId) throw new AppError('CURRENT_SESSION')
    if (!UUID.test(params.id)) throw new AppError('SESSION_NOT_FOUND')
    await closeOtherSessions(db, viewer, params.id)
  })

  route(calls.closeOtherSessions, ({ viewer }) => closeOtherSessions(db, viewer))

  route(calls.closeCurrentSession, async ({ viewer }, { reply }) => {
    await deleteSession(db, viewer)
    sessions.clearCookie(reply)
  })

  return { pruning: [removeExpiredSessions, removeOldClients] }
}
