import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'

export const RETRY_UNAVAILABLE_SECONDS = 2
export const HTML_TYPE = 'text/html; charset=utf-8'

/** A prepared response to a request that reaches no route. */
export type Refusal = { status: number; headers: Record<string, string | number>; body: Buffer }

type Options = {
  securityHeaders: Record<string, string>
  status?: number
  /** What a browser shows in place of a page; JSON by default. */
  html?: string | undefined
}

export function createRefusal(
  code: ErrorCode,
  { securityHeaders, status = ERRORS[code].status, html }: Options,
): Refusal {
  const body = Buffer.from(html ?? JSON.stringify({ code, message: ERRORS[code].message }))
  return {
    status,
    headers: {
      ...securityHeaders,
      ...(status === 503 && { 'retry-after': RETRY_UNAVAILABLE_SECONDS }),
      'cache-control': 'no-store',
      'content-type': html === undefined ? 'application/json; charset=utf-8' : HTML_TYPE,
      'content-length': body.length,
      // What follows a malformed request may be none either. A busy server closes nothing, since
      // accepting a connection costs it more than another request.
      ...(status !== 503 && { connection: 'close' }),
    },
    body,
  }
}

export function createRedirect(location: string, securityHeaders: Record<string, string>): Refusal {
  const headers = {
    ...securityHeaders,
    'cache-control': 'no-store',
    location,
    'content-length': 0,
    connection: 'close',
  }
  return { status: 308, headers, body: Buffer.alloc(0) }
}

export function sendRefusal(response: ServerResponse, { status, headers, body }: Refusal): void {
  response.writeHead(status, headers).end(body)
}

/** Answers a client whose bytes could not be parsed as a request. */
export function writeRefusal(socket: Socket, { status, headers, body }: Refusal): void {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n`)
  socket.end(body)
}
