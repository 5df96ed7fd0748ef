import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { BODY_MAX } from '../../contract/constants.ts'
import { AppError } from './app-error.ts'

/**
 * Parses JSON bodies, and accepts no others; they must be valid UTF-8, since a lenient decoder would store replacement
 * characters. An empty body counts as none: clients send the content type on calls without a body too.
 */
export function parseBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const options = { parseAs: 'buffer', bodyLimit: BODY_MAX } as const
  app.addContentTypeParser('application/json', options, async (_request: unknown, body: Buffer) => {
    if (body.length === 0) return undefined
    if (!isUtf8(body)) throw new AppError('INVALID_REQUEST')
    return parse(body.toString('utf8'))
  })
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw new AppError('INVALID_REQUEST', { message: 'Тело запроса — не JSON' })
  }
}
