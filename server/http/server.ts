import { createServer, type RequestListener } from 'node:http'
import type { Server, Socket } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { BODY_MAX, OPAQUE_MAX } from '../../contract/constants.ts'
import { parseBodies } from './body-parser.ts'
import { createConnections } from './connections.ts'
import { answerFrameworkError, handleErrors } from './errors.ts'
import { setHeaders } from './headers.ts'
import { listenManifold, type Place } from './listen.ts'
import { createLoadShedding } from './load-shedding.ts'
import { connectionsLimit } from './open-files.ts'
import { createRefusal, type Refusal, sendRefusal, writeRefusal } from './refusal.ts'
import type { RefusalLog } from './refusal-log.ts'
import { cleanForwardedFor, namesItsHost } from './request-head.ts'
import { nextRequestId, RequestLog } from './request-log.ts'

type Options = {
  logger: FastifyBaseLogger
  refusals: RefusalLog
  trustProxy: string[]
  /** Headers that every response has. */
  headers: Record<string, string>
  /** Wraps the listener of all requests: what it answers never reaches a route. */
  before: (listener: RequestListener) => RequestListener
}

const SERVER_OPTIONS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  keepAliveTimeout: 72_000,
  /** Node looks for late connections this seldom: its own 30 s would make 5 s up to 35. */
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16 * 1024,
  // Looked at in namesItsHost: Node would answer in words of its own.
  requireHostHeader: false,
}
/** A connection on which nothing moves for so long is closed, whatever its client has still to read. */
const SILENCE_MS = 30_000
/** Requests in flight get this long to finish when the server stops; then their connections are cut. */
const DRAIN_MS = 7000

export type HttpServer = {
  app: FastifyInstance
  /** Resolves to the URL once it answers there; rejects with the system's error. */
  listen(place: Place): Promise<string>
  /** Stops: connections that were used within `keptMs` may ask once more, and requests in flight are answered. */
  stop(keptMs: number): Promise<void>
}

/** The HTTP server without any route: its limits of size, time and number, headers, body parser, errors and request log. */
export async function createHttpServer(options: Options): Promise<HttpServer> {
  const { headers } = options
  const refuse = createRefusals(headers)
  const connections = createConnections(connectionsLimit())
  const load = createLoadShedding({
    refusal: createRefusal('UNAVAILABLE', { securityHeaders: headers }),
    isFirst: connections.isFirst,
    log: options.logger,
  })
  const servers: Server[] = []
  const trustsProxies = options.trustProxy.length > 0
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    logController: new RequestLog(options.refusals),
    trustProxy: trustsProxies ? options.trustProxy : false,
    bodyLimit: BODY_MAX,
    // A request that comes while the server closes, on a connection that is at work, is served like the one before it.
    return503OnClosing: false,
    serverFactory(listener) {
      const serve = options.before(load.guard(listener))
      const server = createServer(
        SERVER_OPTIONS,
        connections.inTurn((request, response) => {
          if (!namesItsHost(request)) return sendRefusal(response, refuse.request)
          if (trustsProxies) cleanForwardedFor(request)
          serve(request, response)
        }),
      )
      server.on('checkExpectation', (_, response) => sendRefusal(response, refuse.expectation))
      servers.push(server)
      return connections.watch(server.setTimeout(SILENCE_MS))
    },
    genReqId: nextRequestId,
    // One logger for all requests: each line says which request it is about.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: OPAQUE_MAX },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false },
    },
    frameworkErrors: answerFrameworkError(headers),
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, refuse),
  })
  handleErrors(app)
  parseBodies(app)
  load.addHooks(app)
  setHeaders(app, headers)
  await app.register(cookie)
  return {
    app,
    async listen(place) {
      const more = await listenManifold(app.server, place, (options) => app.listen(options))
      servers.push(...more)
      return app.listeningOrigin
    },
    async stop(keptMs) {
      await connections.end(servers, { keptMs, cutMs: DRAIN_MS })
      await app.close()
    },
  }
}

type Refusals = ReturnType<typeof createRefusals>

/** Answers to what Node would refuse in words of its own. */
function createRefusals(securityHeaders: Record<string, string>) {
  const refusal = (status: number): Refusal =>
    createRefusal('INVALID_REQUEST', { securityHeaders, status })
  return {
    request: refusal(400),
    expectation: refusal(417),
    HPE_HEADER_OVERFLOW: refusal(431),
    ERR_HTTP_REQUEST_TIMEOUT: refusal(408),
  }
}

/** Answers what is not HTTP, or came too slowly or with too long headers, and closes the connection. */
function answerBrokenRequest({ code }: { code?: string }, socket: Socket, refuse: Refusals): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isKnown = code === 'HPE_HEADER_OVERFLOW' || code === 'ERR_HTTP_REQUEST_TIMEOUT'
  writeRefusal(socket, refuse[isKnown ? code : 'request'])
}
