import { createHmac } from 'node:crypto'
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { networkOf } from '../rate-limits/network.ts'

/** 72 bits, enough to distinguish networks. */
const HASH_LENGTH = 12

type RequestLine = {
  reqId: string
  method: string
  route: string | null
  status: number
  ms: number
  userId?: string | undefined
}

/** The line of a refused request, with the error's code and the caller's address, which the logger writes as a keyed hash. */
export type RefusedLine = RequestLine & { code?: string | undefined; network: string | undefined }

type Refusals = { note(line: RefusedLine): boolean }

let requests = 0

/** Returns a name for a request, unique in the log of this process. */
export function nextRequestId(): string {
  return `req-${(++requests).toString(36)}`
}

/**
 * Returns what the log says about a request. It names the route, not the URL: the operation ids, usernames and queries in
 * URLs stay out of the log.
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
 * Logs an event that helps to explain an attack, or what happened to an account, with the user and the caller's network,
 * which the logger writes as a keyed hash.
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

/** Logs each request when it is answered; of many refused ones, the first and their number. */
export class RequestLog extends LogController {
  readonly #refusals: Refusals

  constructor(refusals: Refusals) {
    super()
    this.#refusals = refusals
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  /** Does nothing: an error is logged with its request's line. */
  override defaultErrorLog(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { url, logLevel } = request.routeOptions
    const isRefused = reply.statusCode >= 400
    // Health checks come every few seconds: their routes log only errors.
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
    const isLogged = this.#refusals.note({ ...line, code: refused?.code, network: request.ip })
    if (isLogged && refused?.failure) {
      request.log.error({ reqId: line.reqId, err: refused.failure }, 'request failed')
    }
  }
}

/**
 * Makes a logger that may be passed callers' addresses. Instead of a line's `network`, an address, it writes an HMAC of
 * the address's network, and instead of `limitKey`, the key of a rate limit, an HMAC of that. So one caller's lines can be
 * matched, and nobody without the secret learns who the caller was.
 */
export function hashAddresses(log: FastifyBaseLogger, key: Buffer): FastifyBaseLogger {
  const hash = (text: string) =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, HASH_LENGTH)
  const serializers = { network: (address: string) => hash(networkOf(address)), limitKey: hash }
  return log.child({}, { serializers })
}
