import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

type Answered = {
  reqId: string
  method: string
  route: string | null
  status: number
  ms: number
  userId?: string | undefined
}

let requests = 0

/** Names a request in the log, within this process. */
export function nextRequestId(): string {
  return `req-${(++requests).toString(36)}`
}

/**
 * What the log says of a request. It names the route, not the URL: an operation's id or a username in a path, or
 * whatever a query holds, stays out of the log.
 */
export function requestLine({ reqId, method, route, status, ms, userId }: Answered): Answered {
  return { reqId, method, route, status, ms: Math.round(ms * 10) / 10, userId }
}

/** Logs one line a request, when it is answered. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** The error handler logs what is worth it. */
  override defaultErrorLog(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    // Health checks come every few seconds: their routes ask for warnings only.
    if (request.routeOptions.logLevel === 'warn') return
    reply.log.info(
      requestLine({
        reqId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: reply.elapsedTime,
        userId: request.viewer?.userId,
      }),
      'request',
    )
  }
}
