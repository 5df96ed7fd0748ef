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
import type { RefusalLog } from './refusal-log.ts'

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

/** Counts the error of a refusal. Returns whether the log needs no line about it. */
export type NoteRefused = (failure: Error) => boolean

type Options = {
  noteRefused: NoteRefused
  observe?: ObserveRequest | undefined
}

let requests = 0
const PROCESS = randomBytes(4).toString('hex')

export function nextRequestId(): string {
  return `req-${PROCESS}-${(++requests).toString(36)}`
}

export function requestLine({ ms, dbMs, ...line }: RequestLine): RequestLine {
  return { ...line, ms: inTenths(ms), dbMs: dbMs && inTenths(dbMs) }
}

function inTenths(ms: number): number {
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

export class RequestLog extends LogController {
  readonly #options: Options
  readonly #refusals: RefusalLog

  constructor(options: Options, refusals: RefusalLog) {
    super()
    this.#options = options
    this.#refusals = refusals
  }

  override incomingRequest(): void {}

  override routeNotFound(): void {}

  override defaultErrorLog(): void {}

  override requestCompleted(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { method, viewer } = request
    const { url: route = null, logLevel } = request.routeOptions
    const { statusCode: status, elapsedTime: ms } = reply
    this.#options.observe?.({ method, route, status, ms }, false)
    const isRefused = status >= 400
    if (logLevel === 'warn' && !isRefused) return
    const dbMs = request.raw.queryTime?.ms || undefined
    const { id: reqId, postId } = request
    const userId = viewer?.userId
    const line = requestLine({ reqId, method, route, status, ms, dbMs, userId, postId })
    if (isRefused) this.#noteRefused(request, reply, line)
    else reply.log.info(line, 'request')
  }

  #noteRefused(request: FastifyRequest, { refused }: FastifyReply, line: RequestLine): void {
    if (request.isRefusedByGate) return
    if (refused?.failure && this.#options.noteRefused(refused.failure)) return
    const isLogged = this.#refusals.note({ ...line, code: refused?.code, network: request.ip })
    if (isLogged && refused?.failure) {
      request.log.error({ reqId: line.reqId, err: refused.failure }, 'request failed')
    }
  }
}

/** Returns a log that writes networks and limit keys as HMACs, whose key changes every day. */
export function hashAddresses(log: FastifyBaseLogger): FastifyBaseLogger {
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
