import { API_PREFIX } from '../../../contract/constants.ts'
import * as calls from '../../../contract/data-export.ts'
import { AppError } from '../../kernel/errors/app-error.ts'
import { Gate } from '../../kernel/gate/gate.ts'
import { VISITOR_CALLS } from '../../kernel/http/call-limits.ts'
import { type Limit, tooMany, widestNetworkOf } from '../../kernel/limits/limits.ts'
import type { ServerContext } from '../../kernel/server-context.ts'
import { createTicket, exportData, readTicket } from './data-export.service.ts'

/** Counts archives that were sent completely, so that a broken download costs no archive. */
const DOWNLOADS: Limit = {
  name: 'download',
  rates: [[1, 86_400]],
  refusal: 'Архив сегодня уже собирали: следующий — через {time}',
  isShared: true,
}

/** Counts all downloads, also interrupted ones and the double requests of in-app browsers. */
const DOWNLOAD_TRIES: Limit = {
  name: 'download-try',
  rates: [[5, 86_400]],
  refusal: 'Архив уже несколько раз пробовали скачать: следующая попытка — через {time}',
  isShared: true,
}

const PATH = `${API_PREFIX}/downloads`
/** The most archives at once, in all and for one network: a slow reader keeps its slot. */
const ARCHIVES = { running: 4, each: 2 }
const BUSY = 'Сейчас собираем архивы других людей. Попробуйте через минуту'
/** A longer download is aborted, because it blocks the downloads of others. */
const LONGEST_MS = 600_000

export function registerDataExport(context: ServerContext): void {
  // The background pool is used, because an archive may take longer than a request may.
  const { route, http, background: db, limits, config } = context
  const key = context.key('downloads')
  const archives = new Gate({ ...ARCHIVES, message: BUSY, retryAfter: 60 })

  route(calls.prepareDownload, async ({ viewer: { userId } }, { request }) => {
    // Throws if no slot is free. The download takes one.
    await archives.run(async () => {}, widestNetworkOf(request.ip))
    const refusal = await limits.findRefusal([
      { limit: DOWNLOADS, key: userId },
      { limit: DOWNLOAD_TRIES, key: userId },
    ])
    if (refusal) throw tooMany(refusal)
    return { path: `${PATH}/${createTicket(userId, key)}` }
  })

  // A browser downloads this path as a file and sends no access token: a ticket replaces it.
  http.get<{ Params: { ticket: string } }>(
    `${PATH}/:ticket`,
    {
      // Fastify would create the archive for a HEAD request too, and discard it.
      exposeHeadRoute: false,
      onRequest: ({ ip }) => limits.charge([{ limit: VISITOR_CALLS, ip }]),
    },
    async ({ params: { ticket }, ip }, reply) => {
      const userId = readTicket(ticket, key)
      if (userId === undefined) {
        throw new AppError('NOT_FOUND', { message: 'Запросите архив ещё раз' })
      }
      // A client that has disconnected already emits no `close`, so it must not get a slot.
      const slot = reply.raw.destroyed ? null : archives.tryAcquire(widestNetworkOf(ip))
      if (!slot) throw archives.refusal()
      const late = setTimeout(() => reply.raw.destroy(), LONGEST_MS)
      reply.raw.once('close', () => {
        clearTimeout(late)
        slot.release()
        const isWhole = reply.statusCode === 200 && reply.raw.writableFinished
        if (isWhole) limits.tryCharge([{ limit: DOWNLOADS, key: userId }]).catch(() => {})
      })
      await limits.charge([{ limit: DOWNLOAD_TRIES, key: userId }])
      return reply
        .header('content-disposition', 'attachment; filename="vslukh.zip"')
        .type('application/zip')
        .send(await exportData(db, userId, config.appName))
    },
  )
}
