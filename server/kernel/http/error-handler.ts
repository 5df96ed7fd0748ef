import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../contract/errors.ts'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import { AppError } from '../errors/app-error.ts'
import { HTML_TYPE, pageCacheControl, RETRY_UNAVAILABLE_SECONDS, type Refusal } from './refusal.ts'

/** Codes of the framework's errors by their status. */
const CODES: Record<number, ErrorCode> = {
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

const JSON_TYPE = 'application/json; charset=utf-8'
export const PAGE_HEADERS = {
  'cache-control': pageCacheControl('private, no-cache'),
  vary: 'Cookie',
  'content-type': HTML_TYPE,
}

/** Lets a shared cache store the answer, so that it stops serving the post. */
export const NO_POST_CACHE_CONTROL = 'public, max-age=0, s-maxage=1'

/** What the log needs of a refusal; `failure` is an error of the server that the answer hides. */
export type RefusalFacts = { code: ErrorCode; failure: Error | undefined }

declare module 'fastify' {
  interface FastifyReply {
    refusalFacts: RefusalFacts | null
  }
}

export function handleErrors(app: FastifyInstance): void {
  app.decorateReply('refusalFacts', null)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const isClients = error === request.raw.errored
    const answered = isClients ? new AppError('INVALID_REQUEST') : error
    return sendError(reply, answerError(answered, request))
  })
}

export function answerFrameworkError(headers: Record<string, string>) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    sendError(reply.headers(headers), answerError(error, request))
  }
}

export function toAppError(error: FastifyError): AppError {
  if (error instanceof AppError) return error
  if (isDatabaseUnavailable(error)) return new AppError('UNAVAILABLE')
  const { statusCode = 500 } = error
  return new AppError(
    CODES[statusCode] ?? (statusCode < 500 ? 'INVALID_REQUEST' : 'INTERNAL_ERROR'),
  )
}

/** Returns the status, headers and body that answer an error, and the facts for the log. */
export function answerError(
  error: Error,
  { headers: { authorization }, page }: { headers: IncomingHttpHeaders; page?: string | undefined },
): Refusal & { refusalFacts: RefusalFacts } {
  const { code, message, ...facts } = describe(error)
  const isMissing = code === 'POST_NOT_FOUND' && authorization === undefined
  const ofJson = isMissing
    ? { 'cache-control': NO_POST_CACHE_CONTROL, vary: 'Authorization' }
    : { 'cache-control': 'no-store' }
  const headers = page === undefined ? { ...ofJson, 'content-type': JSON_TYPE } : PAGE_HEADERS
  const body = Buffer.from(page ?? JSON.stringify({ code, message }))
  return {
    ...facts,
    headers: { ...facts.headers, ...headers, 'content-length': body.length },
    body,
  }
}

/** Sets the status, Retry-After and the facts for the log. The caller sends a body of its own. */
export function markRefused(reply: FastifyReply, error: Error): void {
  const { status, headers, refusalFacts } = describe(error)
  reply.refusalFacts = refusalFacts
  reply.code(status).headers(headers)
}

/** Sends what `answerError` returned. */
export function sendError(
  reply: FastifyReply,
  { status, headers, body, refusalFacts }: ReturnType<typeof answerError>,
): FastifyReply {
  reply.refusalFacts = refusalFacts
  return reply.code(status).headers(headers).send(body)
}

function describe(error: Error) {
  const { status, code, message, retryAfter } = toAppError(error as FastifyError)
  const failure = status >= 500 && !(error instanceof AppError) ? error : undefined
  const seconds = retryAfter ?? (status === 503 ? RETRY_UNAVAILABLE_SECONDS : undefined)
  const headers: Refusal['headers'] =
    seconds === undefined ? {} : { 'retry-after': Math.max(1, Math.ceil(seconds)) }
  return { status, code, message, headers, refusalFacts: { code, failure } }
}
