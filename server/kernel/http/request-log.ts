import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { addQueryTime, type QueryTime } from '../db/database.ts'
import { networkOf } from '../limits/limits.ts'
import type { RefusalFacts } from './error-handler.ts'
import { RefusalLog } from './refusal-log.ts'

const HASH_LENGTH = 12
const DAY_MS = 86_400_000

declare module 'node:http' {
  interface IncomingMessage {
    queryTime?: QueryTime
  }
}

type RequestLine = {
  reqId: string
  method: string
  /** The pattern, because URLs contain operation ids, usernames and queries. */
  route: string | null
  status: number
  ms: number
  dbMs?: number | undefined
  userId?: string | undefined
  postId?: string | undefined
}

type RequestFacts = Pick<RequestLine, 'method' | 'route' | 'status' | 'ms'>

export type ObserveRequest = (facts: RequestFacts, isCacheHit: boolean) => void

type AnsweredRequest = RequestLine & {
  network: string | undefined
  refusalFacts: RefusalFacts | null | undefined
  isCacheHit?: boolean
}

type Options = {
  log: FastifyBaseLogger
  /** Counts the error of a refusal. Returns whether the log needs no line about it. */
  reportRefusal: (failure: Error) => boolean
  observe?: ObserveRequest | undefined
}

let requests = 0
const PROCESS = randomBytes(4).toString('hex')

export function nextRequestId(): string {
  return `req-${PROCESS}-${(++requests).toString(36)}`
}

function roundToTenths(ms: number): number {
  return Math.round(ms * 10) / 10
}

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

export function measureQueryTime<T>(request: IncomingMessage, work: () => T): T {
  request.queryTime ??= { ms: 0 }
  return addQueryTime(request.queryTime, work)
}

/** Counts and logs every answered request, whether Fastify or the fast path answered it. */
export class RequestLog extends LogController {
  readonly refusals: RefusalLog
  readonly #options: Options

  constructor(options: Options) {
    super()
    this.#options = options
    this.refusals = new RefusalLog(options.log)
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override defaultErrorLog(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { id: reqId, method, viewer, postId } = request
    const { url: route = null, logLevel } = request.routeOptions
    const { statusCode: status, elapsedTime: ms, refusalFacts } = reply
    const isSilent = request.isRefusedByGate || (logLevel === 'warn' && status < 400)
    if (isSilent) return void this.#options.observe?.({ method, route, status, ms }, false)
    const dbMs = request.raw.queryTime?.ms || undefined
    const line = { reqId, method, route, status, ms, dbMs, userId: viewer?.userId, postId }
    this.record({ ...line, network: request.ip, refusalFacts })
  }

  record({ network, refusalFacts, isCacheHit = false, ms, dbMs, ...facts }: AnsweredRequest): void {
    const { log, observe } = this.#options
    const { method, route, status } = facts
    observe?.({ method, route, status, ms }, isCacheHit)
    const line = { ...facts, ms: roundToTenths(ms), dbMs: dbMs && roundToTenths(dbMs) }
    if (status >= 400) this.#recordRefusal(line, { network, refusalFacts })
    // A line would cost half as much as the read; the read that filled the cache has one.
    else if (isCacheHit) log.debug(line, 'request')
    else log.info(line, 'request')
  }

  #recordRefusal(
    line: RequestLine,
    { network, refusalFacts }: Pick<AnsweredRequest, 'network' | 'refusalFacts'>,
  ): void {
    if (refusalFacts?.failure && this.#options.reportRefusal(refusalFacts.failure)) return
    const isLogged = this.refusals.record({ ...line, code: refusalFacts?.code, network })
    if (isLogged && refusalFacts?.failure) {
      this.#options.log.error({ reqId: line.reqId, err: refusalFacts.failure }, 'request failed')
    }
  }
}

/** Returns a log that writes networks and limit keys as HMACs, whose key changes every day. */
export function withHashedAddresses(log: FastifyBaseLogger): FastifyBaseLogger {
  const hash = (text: string) =>
    createHmac('sha256', keyOfToday()).update(text).digest('base64url').slice(0, HASH_LENGTH)
  const serializers = { network: (address: string) => hash(networkOf(address)), limitKey: hash }
  return log.child({}, { serializers })
}

let daily = { day: 0, key: randomBytes(32) }

function keyOfToday(): Buffer {
  const day = Math.floor(Date.now() / DAY_MS)
  if (day !== daily.day) daily = { day, key: randomBytes(32) }
  return daily.key
}
