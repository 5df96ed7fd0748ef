import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../../contract/errors.ts'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import { AppError } from '../errors/app-error.ts'
import { RETRY_UNAVAILABLE_SECONDS } from './refusal.ts'

/** Codes of the framework's errors by their status. */
const CODES: Record<number, ErrorCode> = {
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
}

/** Lets a shared cache store the answer, so that it stops serving the post. */
export const NO_POST_CACHE_CONTROL = 'public, max-age=0, s-maxage=1'

declare module 'fastify' {
  interface FastifyReply {
    refused: { code: ErrorCode; failure: Error | undefined } | null
  }
}

export function handleErrors(app: FastifyInstance): void {
  app.decorateReply('refused', null)
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const isClients = error === request.raw.errored
    return refuse(reply, isClients ? new AppError('INVALID_REQUEST') : error)
  })
}

export function answerFrameworkError(headers: Record<string, string>) {
  return (error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void => {
    refuse(reply.headers(headers), error)
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

/** Sets the status, Retry-After and the facts for the log. Returns the error of the contract. */
export function noteRefusal(reply: FastifyReply, error: Error): AppError {
  const refusal = toAppError(error as FastifyError)
  const failure = refusal.status >= 500 && refusal !== error ? error : undefined
  reply.refused = { code: refusal.code, failure }
  const retryAfter =
    refusal.retryAfter ?? (refusal.status === 503 ? RETRY_UNAVAILABLE_SECONDS : undefined)
  if (retryAfter !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfter)))
  reply.code(refusal.status)
  return refusal
}

function refuse(reply: FastifyReply, error: Error): FastifyReply {
  const refusal = noteRefusal(reply, error)
  if (refusal.code === 'POST_NOT_FOUND' && reply.request.headers.authorization === undefined) {
    reply.headers({ 'cache-control': NO_POST_CACHE_CONTROL, vary: 'Authorization' })
  } else reply.header('cache-control', 'no-store')
  return reply
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ code: refusal.code, message: refusal.message })
}
