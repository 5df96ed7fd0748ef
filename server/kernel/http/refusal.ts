import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { formatTime } from '../../../contract/dates.ts'
import { ERRORS, type ErrorCode } from '../../../contract/errors.ts'
import { escapeHtml } from './escape.ts'

export const RETRY_UNAVAILABLE_SECONDS = 2
export const HTML_TYPE = 'text/html; charset=utf-8'

/** Adds to the Cache-Control of a page that no proxy may change it: its scripts would not run. */
export function pageCacheControl(cacheControl: string): string {
  return `${cacheControl}, no-transform`
}

export type Refusal = { status: number; headers: Record<string, string | number>; body: Buffer }

type Headers = Record<string, string>
type Options = {
  securityHeaders: Headers
  status?: number
  html?: string | undefined
  message?: string | undefined
}
type ParseError = { code?: string; rawPacket?: unknown; bytesParsed?: number }

const TOO_LONG = 'Слишком длинный адрес или слишком много cookie: удалите cookie этого сайта'
const TOO_SLOW = 'Запрос шёл слишком долго. Попробуйте ещё раз'
const SHUT = 'Доступ из вашей сети закрыт'

export type Refusals = ReturnType<typeof createRefusals>

type RefusalOptions = {
  /** The pages for requests that get no slot. */
  pages: Record<'visitor' | 'session', string> | null
  /** The address that people of a shut network may write to. */
  contact: string | undefined
}

/** Creates the responses to requests that reach no route. */
export function createRefusals(securityHeaders: Headers, { pages, contact }: RefusalOptions) {
  const refusal = (status: number, message?: string) =>
    createRefusal('INVALID_REQUEST', { securityHeaders, status, message })
  const unavailable = (html?: string) => createRefusal('UNAVAILABLE', { securityHeaders, html })
  const call = unavailable()
  const visitor = unavailable(pages?.visitor)
  const session = unavailable(pages?.session)
  return {
    request: refusal(400),
    expectation: refusal(417),
    HPE_HEADER_OVERFLOW: refusal(431, TOO_LONG),
    ERR_HTTP_REQUEST_TIMEOUT: refusal(408, TOO_SLOW),
    /** `until` is Infinity if the network stays shut. */
    shut({ url }: IncomingMessage, until: number): Refusal {
      const end = until === Infinity ? '' : ` до ${formatTime(until)}`
      const message = `${SHUT}${end}.${contact ? ` Вопросы: ${contact}` : ''}`
      if (url?.startsWith('/api/')) return createRefusal('BLOCKED', { securityHeaders, message })
      const html = `<!doctype html><html lang="ru"><title>${SHUT}</title><p>${escapeHtml(message)}</p></html>`
      return createRefusal('BLOCKED', { securityHeaders, html })
    },
    unavailable({ url, headers }: IncomingMessage): Refusal {
      if (url?.startsWith('/api/')) return call
      return headers.cookie === undefined ? visitor : session
    },
    redirect: (location: string): Refusal => ({
      status: 308,
      headers: {
        ...securityHeaders,
        'cache-control': 'no-store',
        location,
        'content-length': 0,
        connection: 'close',
      },
      body: Buffer.alloc(0),
    }),
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
      'cache-control': html === undefined ? 'no-store' : pageCacheControl('no-store'),
      'content-type': html === undefined ? 'application/json; charset=utf-8' : HTML_TYPE,
      'content-length': body.length,
      // Bytes after a malformed request may be malformed too. A busy server keeps its connections.
      ...(status !== 503 && { connection: 'close' }),
    },
    body,
  }
}

export function sendRefusal(response: ServerResponse, { status, headers, body }: Refusal): void {
  response.writeHead(status, headers).end(body)
}

function writeRefusal(socket: Socket, { status, headers, body }: Refusal): void {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n`)
  socket.end(body)
}

/** Refuses a request that Node cannot parse. Redirects it (308) if its target is raw UTF-8. */
export function answerBrokenRequest(
  error: ParseError,
  { socket, isIdle, refusals }: { socket: Socket; isIdle: boolean; refusals: Refusals },
): void {
  const { code } = error
  // Browsers open connections in advance, and some would show this answer as the page.
  const isUnused = code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
  if (code === 'ECONNRESET' || isUnused || !socket.writable) return void socket.destroy()
  const target = isIdle ? encodedTarget(error) : undefined
  if (target) return void writeRefusal(socket, refusals.redirect(target))
  const isKnown = code === 'HPE_HEADER_OVERFLOW' || code === 'ERR_HTTP_REQUEST_TIMEOUT'
  writeRefusal(socket, refusals[isKnown ? code : 'request'])
}

/** Matches a request line with raw bytes that is short enough for its percent-encoded form. */
const RAW_LINE =
  /^(?:GET|HEAD) (?:https?:\/\/[^/ ]*)?(\/(?![/\\])[!-~\x7f-\xff]{0,2000}) HTTP\/1\.[01]\r\n/

/** Returns the encoded target of a request that Node refuses for raw bytes, such as curl sends. */
function encodedTarget({ code, rawPacket, bytesParsed = 0 }: ParseError): string | undefined {
  if (code !== 'HPE_INVALID_URL' || !Buffer.isBuffer(rawPacket)) return undefined
  const [line = '', target] = RAW_LINE.exec(rawPacket.toString('latin1')) ?? []
  // If the error is after this line, it is in a later request.
  if (target === undefined || bytesParsed >= line.length) return undefined
  const encoded = target.replace(
    /[^!-~]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
  return encoded === target ? undefined : encoded
}
