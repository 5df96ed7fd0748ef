import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

/**
 * Logs one line a request. It names the route, not the URL: an operation's id or a username in a path, or whatever a
 * query holds, stays out of the log.
 */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** The error handler logs what is worth it. */
  override defaultErrorLog(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    reply.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        userId: request.viewer?.userId,
      },
      'request',
    )
  }
}
