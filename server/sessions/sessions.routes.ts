import type { FastifyRequest } from 'fastify'
import {
  closeCurrentSession,
  closeOtherSessions,
  closeSession,
  listSessions,
  refreshSession as refreshEndpoint,
} from '../../contract/sessions.ts'
import type { Features } from '../features.ts'
import { AppError } from '../http/app-error.ts'
import { networkOf } from '../http/limits.ts'
import { refreshSession } from './refresh.ts'
import { deleteOtherSessions, deleteSession, selectSessions } from './sessions.store.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function registerSessions({ route, db, sessions, limits, config }: Features): void {
  route(refreshEndpoint, async ({ body }, { request, reply }) => {
    requireOwnOrigin(request, config.publicUrl)
    const presented = sessions.readCookie(request)
    const clientHash = sessions.hashClient(body.clientToken)
    const charge = (sessionId: string) => limits.refreshes.charge(sessionId)
    const refreshed = presented && (await refreshSession(db, presented, { clientHash, charge }))
    if (!refreshed) {
      // Only what opens nothing counts for the network: behind one address there are many people.
      await limits.vainRefreshes.charge(networkOf(request.ip))
      throw new AppError('UNAUTHORIZED')
    }
    if (refreshed.rotated) {
      sessions.setCookie(reply, refreshed.rotated.secret, refreshed.rotated.age)
    }
    return sessions.issueToken({ userId: refreshed.userId, sessionId: presented.id })
  })

  route(listSessions, async ({ viewer }) => ({ sessions: await selectSessions(db, viewer) }))

  route(closeSession, async ({ params, viewer }) => {
    if (params.id === viewer.sessionId) throw new AppError('CURRENT_SESSION')
    const isOurs =
      UUID.test(params.id) && (await deleteSession(db, { ...viewer, sessionId: params.id }))
    if (!isOurs) throw new AppError('SESSION_NOT_FOUND')
  })

  route(closeOtherSessions, ({ viewer }) => deleteOtherSessions(db, viewer))

  route(closeCurrentSession, async ({ viewer }, { reply }) => {
    await deleteSession(db, viewer)
    sessions.clearCookie(reply)
  })
}

/** The cookie goes along with requests of other sites' pages: only our own pages may spend it. */
function requireOwnOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin } = request.headers
  if (origin === undefined) return
  const isOwn = publicUrl ? origin === publicUrl : URL.parse(origin)?.host === request.headers.host
  if (!isOwn) throw new AppError('FORBIDDEN')
}
