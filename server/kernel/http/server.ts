import {
  createServer,
  type Server as HttpListener,
  type IncomingMessage,
  type RequestListener,
} from 'node:http'
import type { Server } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { BODY_MAX } from '../../../contract/constants.ts'
import { withDeadline } from '../deadline.ts'
import { AppError } from '../errors/app-error.ts'
import { addLanes, type LaneOptions } from '../gate/lanes.ts'
import { collectAllowedMethods } from './allowed-methods.ts'
import { ClosingResponse, Connections } from './connections.ts'
import { answerFrameworkError, handleErrors } from './error-handler.ts'
import { createAddressReader, createForwardedForCheck } from './forwarded-for.ts'
import { parseBodies } from './input.ts'
import { type ListenAddress, listenOnManySockets } from './listen.ts'
import { answerBrokenRequest, createRefusals, type Refusals, sendRefusal } from './refusal.ts'
import { measureQueryTime, nextRequestId, type RequestLog } from './request-log.ts'

type Options = {
  logger: FastifyBaseLogger
  requestLog: RequestLog
  trustProxy: string[]
  shutNetworks: { isEmpty: boolean; shutUntil(address: string | undefined): number | undefined }
  headers: Record<string, string>
  fastPath: LaneOptions['fastPath'] & { wrap(listener: RequestListener): RequestListener }
  /** The HTML for a page request that gets no slot; null if no pages are served. */
  pageNotNow: Record<'visitor' | 'session', string> | null
  contact: string | undefined
}

const SERVER_OPTIONS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 72_000,
  /** Node's default of 30 s would let a timeout of 5 s take 35 s. */
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 * 1024,
  // namesItsHost checks it instead, because Node's own refusal has another format.
  requireHostHeader: false,
}
/** A connection without traffic for this time is closed, even if a response is still unread. */
const SILENCE_MS = 30_000
const HANDLE_MS = 8000
const DRAIN_MS = 7000

const NO_PAGE = '/%25'

/** The server without routes: its limits, headers, body parser, errors and request log. */
export class HttpServer {
  readonly app: FastifyInstance
  readonly #options: Options
  readonly #addressOf: ReturnType<typeof createAddressReader>
  readonly #connections = new Connections()
  readonly #refusals: Refusals
  readonly #servers: Server[] = []

  constructor(options: Options) {
    const { headers, logger, fastPath, pageNotNow: pages, contact } = options
    this.#options = options
    this.#addressOf = createAddressReader(options.trustProxy)
    this.#refusals = createRefusals(headers, { pages, contact })
    this.app = this.#createApp()
    handleErrors(this.app)
    parseBodies(this.app)
    collectAllowedMethods(this.app)
    const [connections, refusals] = [this.#connections, this.#refusals]
    addLanes(this.app, { fastPath, connections, refusals, log: logger })
    setHeaders(this.app, headers)
    this.app.register(cookie)
  }

  async listen(address: ListenAddress): Promise<string> {
    this.#servers.push(...(await listenOnManySockets(this.app, address)))
    return this.app.listeningOrigin
  }

  /** Ends the responses in progress, such as streams, to networks that were shut meanwhile. */
  endShutStreams(): void {
    this.#connections.cut((request) => this.#shutUntil(request) !== undefined)
  }

  #shutUntil(request: IncomingMessage): number | undefined {
    const { shutNetworks } = this.#options
    return shutNetworks.isEmpty ? undefined : shutNetworks.shutUntil(this.#addressOf(request))
  }

  async stop(graceMs: number): Promise<void> {
    await this.#connections.end(this.#servers, { graceMs, cutMs: DRAIN_MS })
    await this.app.close()
    this.#options.requestLog.refusals.close()
  }

  #createApp(): FastifyInstance {
    const { headers, logger, requestLog, trustProxy } = this.#options
    return Fastify({
      loggerInstance: logger,
      logController: requestLog,
      trustProxy: trustProxy.length > 0 ? trustProxy : false,
      bodyLimit: BODY_MAX,
      return503OnClosing: false,
      serverFactory: (listener) => this.#createServer(listener),
      genReqId: nextRequestId,
      childLoggerFactory: (logger) => logger,
      // Longer than any address: the schemas of routes limit parameters.
      routerOptions: { maxParamLength: SERVER_OPTIONS.maxHeaderSize },
      ajv: {
        customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false },
      },
      // An invalid path outside the API leads to the error page, not to a JSON error.
      rewriteUrl: ({ url = '' }) => (isNoPage(url) ? NO_PAGE : url),
      frameworkErrors: answerFrameworkError(headers),
      clientErrorHandler: (error, socket) => {
        const isIdle = this.#connections.isIdle(socket)
        answerBrokenRequest(error, { socket, isIdle, refusals: this.#refusals })
      },
    })
  }

  #createServer(listener: RequestListener): HttpListener {
    const { trustProxy, logger, fastPath } = this.#options
    const checkForwardedFor = createForwardedForCheck(trustProxy, logger)
    const serve = fastPath.wrap((request, response) =>
      measureQueryTime(request, () => listener(request, response)),
    )
    const server = createServer(
      { ...SERVER_OPTIONS, ServerResponse: ClosingResponse },
      this.#connections.inTurn((request, response) => {
        if (!namesItsHost(request)) return sendRefusal(response, this.#refusals.request)
        useOriginForm(request)
        if (request.headers['x-forwarded-for'] !== undefined) checkForwardedFor(request)
        const until = this.#shutUntil(request)
        if (until) return sendRefusal(response, this.#refusals.shut(request, until))
        serve(request, response)
      }),
    )
    server.on('checkExpectation', (_, response) =>
      sendRefusal(response, this.#refusals.expectation),
    )
    // Connections.end() closes them: Node's method would also close some with a request in flight.
    server.closeIdleConnections = () => {}
    this.#servers.push(server)
    return this.#connections.watch(server.setTimeout(SILENCE_MS))
  }
}

/** Returns whether there is one Host header, as HTTP/1.1 requires; HTTP/1.0 may have none. */
function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/** Removes the origin (RFC 9112, 3.2.2) and the fragment from the target of a request. */
function useOriginForm(request: IncomingMessage): void {
  const [, origin, path = ''] = /^(https?:\/\/[^/?#]*)?([^#]*)/i.exec(request.url ?? '') ?? []
  request.url = origin === undefined || path.startsWith('/') ? path : `/${path}`
}

/** Returns whether a URL outside the API has invalid escapes. */
function isNoPage(url: string): boolean {
  if (url.startsWith('/api/') || !url.includes('%')) return false
  const [path = ''] = url.split('?', 1)
  try {
    decodeURIComponent(path)
    return false
  } catch {
    return true
  }
}

function setHeaders(app: FastifyInstance, headers: Record<string, string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    if (request.routeOptions.url?.startsWith('/api/')) reply.header('cache-control', 'no-store')
    done()
  })
}

/** Settles as `answer`, or throws UNAVAILABLE after `ms`, 8 s by default. */
export function withHandlerDeadline<T>(answer: Promise<T>, ms = HANDLE_MS): Promise<T> {
  return withDeadline(answer, ms, (): never => {
    throw new AppError('UNAVAILABLE')
  })
}
