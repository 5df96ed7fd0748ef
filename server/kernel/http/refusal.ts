import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'

export const RETRY_UNAVAILABLE_SECONDS = 2
export const HTML_TYPE = 'text/html; charset=utf-8'

/** A prepared response to a request that reaches no route. */
export type Refusal = { status: number; headers: Record<string, string | number>; body: Buffer }

type Headers = Record<string, string>
type Options = {
  securityHeaders: Headers
  status?: number
  /** The body for browsers, in place of a page; JSON by default. */
  html?: string | undefined
  message?: string
}
type ParseError = { code?: string; rawPacket?: unknown; bytesParsed?: number }

const TOO_LONG = 'Слишком длинный адрес или слишком много cookie: удалите cookie этого сайта'
const TOO_SLOW = 'Запрос шёл слишком долго. Попробуйте ещё раз'
const SHUT = 'Доступ из вашей сети закрыт'
const SHUT_PAGE = `<!doctype html><html lang="ru"><title>${SHUT}</title><p>${SHUT}.</p></html>`

export type Refusals = ReturnType<typeof createRefusals>

/** Creates the responses to requests that Node would refuse in its own format. */
export function createRefusals(securityHeaders: Headers) {
  const refusal = (status: number, message?: string) =>
    createRefusal('INVALID_REQUEST', { securityHeaders, status, ...(message && { message }) })
  const shut = (html?: string) => createRefusal('BLOCKED', { securityHeaders, message: SHUT, html })
  return {
    request: refusal(400),
    expectation: refusal(417),
    HPE_HEADER_OVERFLOW: refusal(431, TOO_LONG),
    ERR_HTTP_REQUEST_TIMEOUT: refusal(408, TOO_SLOW),
    shutCall: shut(),
    shutPage: shut(SHUT_PAGE),
    moved: (location: string) => createRedirect(location, securityHeaders),
  }
}

/** Creates the responses to requests that get no slot; `pages` are their HTML. */
export function createUnavailable(
  securityHeaders: Headers,
  pages: Record<'visitor' | 'session', string> | null,
): (request: IncomingMessage) => Refusal {
  const call = createRefusal('UNAVAILABLE', { securityHeaders })
  const visitor = createRefusal('UNAVAILABLE', { securityHeaders, html: pages?.visitor })
  const session = createRefusal('UNAVAILABLE', { securityHeaders, html: pages?.session })
  return ({ url, headers }) => {
    if (url?.startsWith('/api/')) return call
    return headers.cookie === undefined ? visitor : session
  }
}

function createRefusal(
  code: ErrorCode,
  { securityHeaders, status = ERRORS[code].status, html, message = ERRORS[code].message }: Options,
): Refusal {
  const body = Buffer.from(html ?? JSON.stringify({ code, message }))
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

function createRedirect(location: string, securityHeaders: Record<string, string>): Refusal {
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

function writeRefusal(socket: Socket, { status, headers, body }: Refusal): void {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n`)
  socket.end(body)
}

/** Answers a client whose bytes are not a request, arrive too slowly, or have too long headers. */
export function answerBrokenRequest(
  error: ParseError,
  { socket, isIdle, refusals }: { socket: Socket; isIdle: boolean; refusals: Refusals },
): void {
  const { code } = error
  // Browsers connect ahead of a request, and some show an answer to none as the page.
  const isUnused = code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
  if (code === 'ECONNRESET' || isUnused || !socket.writable) return void socket.destroy()
  const moved = isIdle ? encodedTarget(error) : undefined
  if (moved) return void writeRefusal(socket, refusals.moved(moved))
  const isKnown = code === 'HPE_HEADER_OVERFLOW' || code === 'ERR_HTTP_REQUEST_TIMEOUT'
  writeRefusal(socket, refusals[isKnown ? code : 'request'])
}

/** Percent-encoding triples the bytes of a target; this length leaves room for that. */
const RAW_LINE =
  /^(?:GET|HEAD) (?:https?:\/\/[^/ ]*)?(\/(?![/\\])[!-~\x7f-\xff]{0,2000}) HTTP\/1\.[01]\r\n/

/**
 * Returns the percent-encoded target of a request that Node refuses for raw bytes in it, as curl
 * sends them; undefined for all others.
 */
function encodedTarget({ code, rawPacket, bytesParsed = 0 }: ParseError): string | undefined {
  if (code !== 'HPE_INVALID_URL' || !Buffer.isBuffer(rawPacket)) return undefined
  const [line = '', target] = RAW_LINE.exec(rawPacket.toString('latin1')) ?? []
  // Beyond the line, the fault is another request's.
  if (target === undefined || bytesParsed >= line.length) return undefined
  const encoded = target.replace(
    /[^!-~]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return encoded === target ? undefined : encoded
}
