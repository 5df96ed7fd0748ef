import type { FastifyInstance } from 'fastify'
import { prepareDownload } from '../../contract/data-export.ts'
import type { Db } from '../db/database.ts'
import { AppError } from '../http/app-error.ts'
import { API_PREFIX, type Route } from '../http/route.ts'
import type { Limits } from '../rate-limits/rate-limits.ts'
import { createTicket, exportData, readTicket } from './data-export.service.ts'

type Options = {
  route: Route
  /** Serves the archive itself, which is no JSON. */
  http: FastifyInstance
  db: Db
  limits: Pick<Limits, 'downloads' | 'visitorCalls'>
  appName: string
  /** Signs the tickets in the paths of archives. */
  key: Buffer
}

const PATH = `${API_PREFIX}/downloads`

export function registerDataExport({ route, http, db, limits, appName, key }: Options): void {
  route(prepareDownload, async ({ viewer: { userId } }) => {
    await limits.downloads.charge(userId)
    return { path: `${PATH}/${createTicket(userId, { key, now: Date.now() })}` }
  })

  // A browser saves it as a file by itself, without holding it in memory, and sends no token for that.
  http.get<{ Params: { ticket: string } }>(
    `${PATH}/:ticket`,
    {
      schema: { hide: true },
      onRequest: (request) => limits.visitorCalls.chargeNetwork(request.ip),
    },
    async (request, reply) => {
      const userId = readTicket(request.params.ticket, { key, now: Date.now() })
      if (userId === undefined) throw new AppError('NOT_FOUND')
      const archive = await exportData(db, userId, appName)
      return reply
        .header('content-disposition', 'attachment; filename="vslukh.zip"')
        .type('application/zip')
        .send(archive)
    },
  )
}
