import {
  createServer,
  type Server as HttpListener,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { Server } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { BODY_MAX, OPAQUE_MAX } from '../../../contract/constants.ts'
import { withDeadline } from '../db/outage.ts'
import { AppError } from '../errors/app-error.ts'
import { addLanes } from '../gate/gate.ts'
import { noteAllowedMethods } from './allowed-methods.ts'
import { ClosingResponse, Connections } from './connections.ts'
import { answerFrameworkError, handleErrors } from './error-handler.ts'
import { clientAddress, ForwardedFor } from './forwarded-for.ts'
import { parseBodies } from './input.ts'
import { type ListenAddress, listenOnManySockets } from './listen.ts'
import {
  answerBrokenRequest,
  createRefusals,
  createUnavailable,
  type Refusals,
  sendRefusal,
} from './refusal.ts'
import type { RefusedNetwork } from './refusal-log.ts'
import {
  measureQueryTime,
  type NoteRefused,
  nextRequestId,
  type ObserveRequest,
  RequestLog,
} from './request-log.ts'

type Options = {
  logger: FastifyBaseLogger
  /** Counts a refusal because of an error; returns whether the log needs nothing else about it. */
  noteRefused: NoteRefused
  trustProxy: string[]
  /** The networks that get no answer but a refusal. */
  shut: { isEmpty: boolean; includes(address: string | undefined): boolean }
  observe?: ObserveRequest | undefined
  headers: Record<string, string>
  fastPath: {
    /** Wraps the listener of all requests: those that it answers reach no route. */
    wrap(listener: RequestListener): RequestListener
    /** Answers a request for which there is no slot, if it can; returns whether it does. */
    serveStale(request: IncomingMessage, response: ServerResponse): boolean
  }
  /** The HTML in place of a page for which there is no slot; null where there are no pages. */
  pageNotNow: Record<'visitor' | 'session', string> | null
}

const SERVER_OPTIONS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 72_000,
  /** Node checks for late requests each 30 s otherwise: a timeout of 5 s could take 35 s. */
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 * 1024,
  // Checked in namesItsHost: Node's own answer would not have our format.
  requireHostHeader: false,
}
/** A connection without traffic is closed, even if its client has not read everything. */
const SILENCE_MS = 30_000
const HANDLE_MS = 8000
/** When the server stops, requests under way have this long to finish. */
const DRAIN_MS = 7000

const NO_PAGE = '/%25'

/** The server without routes: its limits, headers, body parser, errors and request log. */
export class HttpServer {
  readonly app: FastifyInstance
  readonly #options: Options
  readonly #connections = new Connections()
  readonly #forwardedFor: ForwardedFor
  readonly #refusals: Refusals
  readonly #addressOf: (request: IncomingMessage) => string | undefined
  readonly #requestLog: RequestLog
  readonly #servers: Server[] = []

  constructor(options: Options) {
    const { headers, logger, trustProxy, fastPath, pageNotNow } = options
    this.#options = options
    this.#forwardedFor = new ForwardedFor(trustProxy, logger)
    this.#refusals = createRefusals(headers)
    this.#addressOf = clientAddress(trustProxy)
    this.#requestLog = new RequestLog(options)
    this.app = this.#createApp()
    handleErrors(this.app)
    parseBodies(this.app)
    noteAllowedMethods(this.app)
    addLanes(this.app, {
      refusalOf: createUnavailable(headers, pageNotNow),
      insteadOfRefusal: (request, response) => fastPath.serveStale(request, response),
      isFirst: (request) => this.#connections.isFirst(request),
      log: logger,
    })
    setHeaders(this.app, headers)
    this.app.register(cookie)
  }

  /** Resolves to the URL once it answers there; rejects with the system's error. */
  async listen(address: ListenAddress): Promise<string> {
    const { app } = this
    const more = await listenOnManySockets(app.server, address, (options) => app.listen(options))
    this.#servers.push(...more)
    return app.listeningOrigin
  }

  /** Returns the networks that were refused most in the last ten minutes. */
  refused(): RefusedNetwork[] {
    return this.#requestLog.refused()
  }

  /** Answers the requests under way. Connections used within `graceMs` may send one more. */
  async stop(graceMs: number): Promise<void> {
    await this.#connections.end(this.#servers, { graceMs, cutMs: DRAIN_MS })
    await this.app.close()
    this.#requestLog.close()
  }

  #createApp(): FastifyInstance {
    const { headers, logger, trustProxy } = this.#options
    return Fastify({
      loggerInstance: logger,
      logController: this.#requestLog,
      trustProxy: trustProxy.length > 0 ? trustProxy : false,
      bodyLimit: BODY_MAX,
      // A request on a connection in use is served while the server closes.
      return503OnClosing: false,
      serverFactory: (listener) => this.#createServer(listener),
      genReqId: nextRequestId,
      childLoggerFactory: (logger) => logger,
      routerOptions: { maxParamLength: OPAQUE_MAX },
      ajv: {
        customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false },
      },
      // A person gets an error page; a call of the API gets the error as JSON.
      rewriteUrl: ({ url = '' }) => (isNoPage(url) ? NO_PAGE : url),
      frameworkErrors: answerFrameworkError(headers),
      clientErrorHandler: (error, socket) => {
        const isIdle = this.#connections.isIdle(socket)
        answerBrokenRequest(error, { socket, isIdle, refusals: this.#refusals })
      },
    })
  }

  #createServer(listener: RequestListener): HttpListener {
    const { shut } = this.#options
    const serve = this.#options.fastPath.wrap((request, response) =>
      measureQueryTime(request, () => listener(request, response)),
    )
    const server = createServer(
      { ...SERVER_OPTIONS, ServerResponse: ClosingResponse },
      this.#connections.inTurn((request, response) => {
        if (!namesItsHost(request)) return sendRefusal(response, this.#refusals.request)
        useOriginForm(request)
        if (request.headers['x-forwarded-for'] !== undefined) this.#forwardedFor.check(request)
        if (!shut.isEmpty && shut.includes(this.#addressOf(request))) {
          const isCall = request.url?.startsWith('/api/')
          return sendRefusal(response, this.#refusals[isCall ? 'shutCall' : 'shutPage'])
        }
        serve(request, response)
      }),
    )
    server.on('checkExpectation', (_, response) =>
      sendRefusal(response, this.#refusals.expectation),
    )
    // Connections.end() closes them: close() would also close connections with a request in flight.
    server.closeIdleConnections = () => {}
    this.#servers.push(server)
    return this.#connections.watch(server.setTimeout(SILENCE_MS))
  }
}

/** HTTP/1.1 requires one host; HTTP/1.0 may name none. */
function namesItsHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

/**
 * Makes the target a path: clients behind a proxy send the absolute form (RFC 9112, 3.2.2), and some
 * readers the fragment, which is the browser's.
 */
function useOriginForm(request: IncomingMessage): void {
  const [, origin, path = ''] = /^(https?:\/\/[^/?#]*)?([^#]*)/i.exec(request.url ?? '') ?? []
  request.url = origin === undefined || path.startsWith('/') ? path : `/${path}`
}

/** Whether an address outside the API has invalid escapes, or a part too long for the router. */
function isNoPage(url: string): boolean {
  if (url.startsWith('/api/') || (url.length <= OPAQUE_MAX && !url.includes('%'))) return false
  const [path = ''] = url.split('?', 1)
  try {
    return decodeURIComponent(path)
      .split('/')
      .some((part) => part.length > OPAQUE_MAX)
  } catch {
    return true
  }
}

/** Responses of the API must not be stored unless their route allows it. */
function setHeaders(app: FastifyInstance, headers: Record<string, string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    // By the route, since a URL can be spelt in many ways.
    if (request.routeOptions.url?.startsWith('/api/')) reply.header('cache-control', 'no-store')
    done()
  })
}

/** Limits a handler to 8 s unless set otherwise, and then throws UNAVAILABLE. */
export function withHandlerDeadline<T>(answer: Promise<T>, ms = HANDLE_MS): Promise<T> {
  return withDeadline(answer, ms, (): never => {
    throw new AppError('UNAVAILABLE')
  })
}
