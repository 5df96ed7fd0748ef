import type { FastifyInstance } from 'fastify'
import { AppError } from './app-error.ts'

/** Requests at work at once; past it the next is refused at once, so that no queue grows. */
const IN_FLIGHT_MAX = 512

/** Refuses requests with UNAVAILABLE while too many are at work. */
export function shedLoad(app: FastifyInstance): void {
  let inFlight = 0
  app.addHook('onRequest', (request, reply, done) => {
    inFlight++
    // 'close' comes once for each response, also for one whose client went away.
    reply.raw.once('close', () => inFlight--)
    const isHealthCheck = request.url === '/livez' || request.url === '/readyz'
    done(inFlight > IN_FLIGHT_MAX && !isHealthCheck ? new AppError('UNAVAILABLE') : undefined)
  })
}
