import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

type RequestLine = {
  reqId: string
  method: string
  route: string | null
  status: number
  ms: number
  userId?: string | undefined
}

/** Of a refused request also the refusal's code, and the caller's address, which the logger shows as a keyed hash. */
export type RefusedLine = RequestLine & { code?: string | undefined; network: string | undefined }

type Refusals = { note(line: RefusedLine): boolean }

let requests = 0

/** Names a request in the log, within this process. */
export function nextRequestId(): string {
  return `req-${(++requests).toString(36)}`
}

/**
 * What the log says of a request. It names the route, not the URL: an operation's id or a username in a path, or
 * whatever a query holds, stays out of the log.
 */
export function requestLine({
  reqId,
  method,
  route,
  status,
  ms,
  userId,
}: RequestLine): RequestLine {
  return { reqId, method, route, status, ms: Math.round(ms * 10) / 10, userId }
}

/**
 * Logs a line to explain an attack by, or what became of an account: who and from which network, which the logger shows
 * as a keyed hash.
 */
export function logEvent(
  { log, id, ip }: FastifyRequest,
  event: string,
  {
    level = 'info',
    ...facts
  }: { level?: 'info' | 'warn'; userId: string; isKnownClient?: boolean },
): void {
  log[level]({ reqId: id, network: ip, ...facts }, event)
}

/** Logs one line a request, when it is answered; of many that are refused, the first and their number. */
export class RequestLog extends LogController {
  readonly #refusals: Refusals

  constructor(refusals: Refusals) {
    super()
    this.#refusals = refusals
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** What failed is logged with the request's line. */
  override defaultErrorLog(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { url, logLevel } = request.routeOptions
    const isRefused = reply.statusCode >= 400
    // Health checks come every few seconds: their routes ask for warnings only.
    if (logLevel === 'warn' && !isRefused) return
    const line = requestLine({
      reqId: request.id,
      method: request.method,
      route: url ?? null,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      userId: request.viewer?.userId,
    })
    if (isRefused) this.#noteRefused(request, reply, line)
    else reply.log.info(line, 'request')
  }

  #noteRefused(request: FastifyRequest, { refused }: FastifyReply, line: RequestLine): void {
    const isTold = this.#refusals.note({ ...line, code: refused?.code, network: request.ip })
    if (isTold && refused?.failure) {
      request.log.error({ reqId: line.reqId, err: refused.failure }, 'request failed')
    }
  }
}
