import { createServer, type RequestListener, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import underPressure from '@fastify/under-pressure'
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { ERRORS } from '../../contract/errors.ts'
import { BODY_MAX, OPAQUE_MAX } from '../../contract/limits.ts'
import { AppError } from './app-error.ts'
import { parseBodies } from './body-parser.ts'
import { answerFrameworkError, handleErrors } from './errors.ts'
import { setHeaders } from './headers.ts'
import type { RefusalLog } from './refusal-log.ts'
import { nextRequestId, RequestLog } from './request-log.ts'
import { shedLoad } from './shed-load.ts'

type Options = {
  logger: FastifyBaseLogger
  refusals: RefusalLog
  trustProxy: string[]
  isHttps: boolean
  hstsSubdomains: boolean
  inlineScriptHashes: string[]
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
}
const EVENT_LOOP_DELAY_MAX_MS = 1000

/** The HTTP server without any route: its limits of size and time, headers, body parser, errors and request log. */
export async function createHttpServer(options: Options): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({
    loggerInstance: options.logger,
    logController: new RequestLog(options.refusals),
    trustProxy: options.trustProxy.length > 0 ? options.trustProxy : false,
    bodyLimit: BODY_MAX,
    // A request that comes while the server closes, on a connection that is at work, is served like the one before it.
    return503OnClosing: false,
    serverFactory: (listener) => createServer(SERVER_OPTIONS, options.before(listener)),
    genReqId: nextRequestId,
    // One logger for all requests: each line says which request it is about.
    childLoggerFactory: (logger) => logger,
    routerOptions: { maxParamLength: OPAQUE_MAX },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false },
    },
    frameworkErrors: answerFrameworkError,
    clientErrorHandler: answerBrokenRequest,
  })
  handleErrors(app)
  parseBodies(app)
  shedLoad(app)
  await app.register(underPressure, {
    maxEventLoopDelay: EVENT_LOOP_DELAY_MAX_MS,
    pressureHandler: () => {
      throw new AppError('UNAVAILABLE')
    },
  })
  setHeaders(app, options)
  await app.register(cookie)
  return app
}

/** Answers what is not HTTP, or came too slowly or with too long headers, and closes the connection. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status =
    { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400
  const { message } = ERRORS.INVALID_REQUEST
  const body = JSON.stringify({ code: 'INVALID_REQUEST', message })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
