import { isUtf8 } from 'node:buffer'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { Server, Socket } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest } from 'fastify'
import { BODY_MAX, OPAQUE_MAX } from '../../../contract/constants.ts'
import { AppError } from '../errors/app-error.ts'
import { addLanes } from '../gate/gate.ts'
import { noteAllowedMethods } from './allowed-methods.ts'
import {
  cleanForwardedFor,
  namesItsHost,
  useOriginForm,
  watchForwardedFor,
} from './client-headers.ts'
import { ClosingResponse, connectionsLimit, createConnections } from './connections.ts'
import { answerFrameworkError, handleErrors } from './error-handler.ts'
import { setHeaders } from './headers.ts'
import { type ListenAddress, listenOnManySockets } from './listen.ts'
import { encodedTarget } from './raw-target.ts'
import {
  createRedirect,
  createRefusal,
  type Refusal,
  sendRefusal,
  writeRefusal,
} from './refusal.ts'
import type { RefusalLog } from './refusal-log.ts'
import {
  measureQueryTime,
  type NoteRefused,
  nextRequestId,
  type ObserveRequest,
  RequestLog,
} from './request-log.ts'

type Options = {
  logger: FastifyBaseLogger
  refusals: RefusalLog
  /** Counts a refusal because of an error; returns whether the log needs nothing else about it. */
  noteRefused: NoteRefused
  trustProxy: string[]
  observe?: ObserveRequest | undefined
  headers: Record<string, string>
  /** Wraps the listener of all requests: those that it answers reach no route. */
  before: (listener: RequestListener) => RequestListener
  /** Answers a request for which there is no slot, if it can; returns whether it does. */
  insteadOfRefusal: (request: IncomingMessage, response: ServerResponse) => boolean
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
/** When the server stops, requests under way have this long to finish. */
const DRAIN_MS = 7000

const NO_PAGE = '/%25'

export type HttpServer = {
  app: FastifyInstance
  /** Resolves to the URL once it answers there; rejects with the system's error. */
  listen(address: ListenAddress): Promise<string>
  /** Answers the requests under way. Connections used within `graceMs` may send one more. */
  stop(graceMs: number): Promise<void>
}

/** Makes the server without routes: its limits, headers, body parser, errors and request log. */
export async function createHttpServer(options: Options): Promise<HttpServer> {
  const { headers } = options
  const refuse = createRefusals(headers)
  const connections = createConnections(connectionsLimit())
  const servers: Server[] = []
  const trustsProxies = options.trustProxy.length > 0
  const watchProxies = watchForwardedFor(options.trustProxy, options.logger)
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    logController: new RequestLog(options),
    trustProxy: trustsProxies ? options.trustProxy : false,
    bodyLimit: BODY_MAX,
    // A request on a connection in use is served while the server closes.
    return503OnClosing: false,
    serverFactory(listener) {
      const measured: RequestListener = (request, response) =>
        measureQueryTime(request, () => listener(request, response))
      const serve = options.before(measured)
      const server = createServer(
        { ...SERVER_OPTIONS, ServerResponse: ClosingResponse },
        connections.inTurn((request, response) => {
          if (!namesItsHost(request)) return sendRefusal(response, refuse.request)
          useOriginForm(request)
          watchProxies(request)
          if (trustsProxies) cleanForwardedFor(request)
          serve(request, response)
        }),
      )
      server.on('checkExpectation', (_, response) => sendRefusal(response, refuse.expectation))
      // connections.end() closes them itself: close() would also close those with a request on its way.
      server.closeIdleConnections = () => {}
      servers.push(server)
      return connections.watch(server.setTimeout(SILENCE_MS))
    },
    genReqId: nextRequestId,
    // One logger for all requests: each line names its request.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: OPAQUE_MAX },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false },
    },
    // A person gets the page that says so; calls of the API are told what is wrong.
    rewriteUrl: ({ url = '' }) => (isNoPage(url) ? NO_PAGE : url),
    frameworkErrors: answerFrameworkError(headers),
    clientErrorHandler(error, socket) {
      const moved = connections.isIdle(socket) ? encodedTarget(error) : undefined
      if (moved && socket.writable) writeRefusal(socket, refuse.moved(moved))
      else answerBrokenRequest(error, socket, refuse)
    },
  })
  handleErrors(app)
  parseBodies(app)
  noteAllowedMethods(app)
  addLanes(app, {
    refusalOf: unavailable(options),
    insteadOfRefusal: options.insteadOfRefusal,
    isFirst: connections.isFirst,
    log: options.logger,
  })
  setHeaders(app, headers)
  await app.register(cookie)
  return {
    app,
    async listen(address) {
      const more = await listenOnManySockets(app.server, address, (options) => app.listen(options))
      servers.push(...more)
      return app.listeningOrigin
    },
    async stop(graceMs) {
      await connections.end(servers, { graceMs, cutMs: DRAIN_MS })
      await app.close()
    },
  }
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

/** Makes the responses to requests for which there was no slot. */
function unavailable({ headers: securityHeaders, pageNotNow }: Options) {
  const call = createRefusal('UNAVAILABLE', { securityHeaders })
  const page = {
    visitor: createRefusal('UNAVAILABLE', { securityHeaders, html: pageNotNow?.visitor }),
    session: createRefusal('UNAVAILABLE', { securityHeaders, html: pageNotNow?.session }),
  }
  return (request: IncomingMessage): Refusal => {
    if (request.url?.startsWith('/api/')) return call
    return page[request.headers.cookie === undefined ? 'visitor' : 'session']
  }
}

type Refusals = ReturnType<typeof createRefusals>

/** Makes the responses to requests that Node would refuse in its own format. */
function createRefusals(securityHeaders: Record<string, string>) {
  const refusal = (status: number): Refusal =>
    createRefusal('INVALID_REQUEST', { securityHeaders, status })
  return {
    request: refusal(400),
    expectation: refusal(417),
    moved: (location: string): Refusal => createRedirect(location, securityHeaders),
    HPE_HEADER_OVERFLOW: refusal(431),
    ERR_HTTP_REQUEST_TIMEOUT: refusal(408),
  }
}

/** Answers a request that is not HTTP, too slow, or has too long headers. */
function answerBrokenRequest({ code }: { code?: string }, socket: Socket, refuse: Refusals): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isKnown = code === 'HPE_HEADER_OVERFLOW' || code === 'ERR_HTTP_REQUEST_TIMEOUT'
  writeRefusal(socket, refuse[isKnown ? code : 'request'])
}

/** Accepts JSON in valid UTF-8 alone. An empty body counts as none, whatever its type. */
function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit: BODY_MAX } as const
  app.addContentTypeParser(
    'application/json',
    options,
    async (request: FastifyRequest, body: Buffer) => {
      const { 'content-encoding': encoding = 'identity' } = request.headers
      if (encoding !== 'identity') throw new AppError('UNSUPPORTED_MEDIA_TYPE')
      if (body.length === 0) return undefined
      if (!isUtf8(body)) throw new AppError('INVALID_REQUEST')
      return parse(body.toString('utf8'))
    },
  )
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new AppError('INVALID_REQUEST', { message: 'Тело запроса — не JSON' })
  }
}
