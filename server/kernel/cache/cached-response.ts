import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { STALE_HEADER, STALE_STATUS } from '../../../contract/constants.ts'
import { pageCacheControl } from '../http/refusal.ts'

type ResponseHeaders = Record<string, string | number>
type Encoding = 'br' | 'gzip' | 'identity'
type AcceptEncoding = string | undefined
type Variant = { body: Buffer; headers: ResponseHeaders; notModifiedHeaders: ResponseHeaders }
export type Answer = { status: number; headers: ResponseHeaders; body: Buffer }

type Content = {
  route: string
  body: Buffer
  type: string
  /** The type for clients that accept HTML, if it is another; then `vary` is Accept. */
  browserType?: string
  headers: ResponseHeaders
  vary?: 'Authorization' | 'Cookie' | 'Accept'
  cacheControl?: string
  /** Whether it is a page, which the fast path serves only to requests without a cookie. */
  isPage?: boolean
  /** Identifies this state of the content in the ETags; a hash of the body by default. */
  tag?: string
  /** The value of the body, to make bodies for signed-in viewers; absent if a route makes them. */
  answer?: unknown
  /** The posts whose text it shows; absent if it may show any post. */
  postIds?: string[]
  /** Resolves to the page for a request that is refused; refusals are JSON without it. */
  refusedPage?: () => Promise<string>
  /** Returns the body with a notice that it is stale. */
  markStale?: (body: string) => string
}

const EMPTY = Buffer.alloc(0)
const COMPRESSED_MIN = 1024
const BROTLI_QUALITY = 5
/** A window of 64 KiB holds most bodies. A wider one takes more memory and time. */
const BROTLI_WINDOW_BITS = 16
const GZIP_LEVEL = 6
const ACCEPTED = {
  br: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i,
}
/**
 * Lets a CDN cache for a second, as this server does, and for an hour if it fails (RFC 5861). With
 * `stale-while-revalidate`, browsers would show removed posts from their own caches.
 */
export const CACHE_CONTROL = 'public, max-age=0, s-maxage=1, stale-if-error=3600'

/** A response that all visitors share. Each encoding is compressed at its first request. */
export class CachedResponse {
  readonly content: Content
  readonly tag: string
  readonly identity: Variant
  readonly #variants: Partial<Record<Encoding, Variant>>
  readonly #compressing: Partial<Record<Encoding, Promise<Variant>>> = {}
  #stale: CachedResponse | undefined

  constructor(content: Content) {
    const { body, tag = createHash('sha1').update(body).digest('base64url') } = content
    this.content = content
    this.tag = tag
    this.identity = this.#variantOf(body, 'identity')
    this.#variants = { identity: this.identity }
  }

  /** The size in bytes, with the variants and the stale body that may be added later. */
  get size(): number {
    const { markStale, answer, body } = this.content
    return 4096 + body.length * (markStale || answer !== undefined ? 4 : 2)
  }

  async variantFor(acceptEncoding: AcceptEncoding): Promise<Variant> {
    const encoding = this.#encodingFor(acceptEncoding)
    const ready = this.#variants[encoding]
    if (ready) return ready
    this.#compressing[encoding] ??= this.#compress(encoding)
    return this.#compressing[encoding]
  }

  readyVariant(acceptEncoding: AcceptEncoding): Variant | undefined {
    return this.#variants[this.#encodingFor(acceptEncoding)]
  }

  /** Returns the response with the body of `markStale`, or this response without `markStale`. */
  toStale(): CachedResponse {
    const { markStale, ...content } = this.content
    if (!markStale) return this
    this.#stale ??= new CachedResponse({
      ...content,
      body: Buffer.from(markStale(content.body.toString())),
      tag: `saved-${this.tag}`,
    })
    return this.#stale
  }

  /** Returns 304 if the client has the body, otherwise 200; always 200 if stale, with an `age`. */
  answerTo(
    { 'if-none-match': ifNoneMatch, accept }: IncomingHttpHeaders,
    { body, headers: readersHeaders, notModifiedHeaders }: Variant,
    age?: number,
  ): Answer {
    const { browserType } = this.content
    const isBrowser = browserType !== undefined && accept?.includes('text/html')
    const headers = isBrowser ? { ...readersHeaders, 'content-type': browserType } : readersHeaders
    if (age !== undefined) {
      const staleHeaders = { ...cacheStatus(age), 'cache-control': this.#controlOf('no-store') }
      return { status: 200, headers: { ...headers, ...staleHeaders }, body }
    }
    return isNotModified(this, ifNoneMatch)
      ? { status: 304, headers: notModifiedHeaders, body: EMPTY }
      : { status: 200, headers, body }
  }

  /** Sets the reply's status and headers, and resolves to its body. */
  async send(
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
    age?: number,
  ): Promise<Buffer> {
    const variant = await this.variantFor(request.headers['accept-encoding'])
    const { status, headers, body } = this.answerTo(request.headers, variant, age)
    if (status === 304) reply.code(status)
    reply.headers(headers)
    return body
  }

  async #compress(encoding: Encoding): Promise<Variant> {
    const added = this.#variantOf(await compress(this.content.body, encoding), encoding)
    this.#variants[encoding] = added
    return added
  }

  #variantOf(body: Buffer, encoding: Encoding): Variant {
    const { headers, cacheControl = CACHE_CONTROL, vary, type } = this.content
    const notModifiedHeaders = {
      ...headers,
      'cache-control': this.#controlOf(cacheControl),
      vary: vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding',
      // Two encodings are two representations, each with its own ETag (RFC 9110, 8.8.3.3).
      etag: encoding === 'identity' ? `"${this.tag}"` : `"${this.tag}-${encoding}"`,
    }
    return {
      body,
      notModifiedHeaders,
      headers: {
        ...notModifiedHeaders,
        'content-type': type,
        'content-length': body.length,
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      },
    }
  }

  #controlOf(cacheControl: string): string {
    return this.content.isPage ? pageCacheControl(cacheControl) : cacheControl
  }

  #encodingFor(acceptEncoding = ''): Encoding {
    if (this.identity.body.length < COMPRESSED_MIN) return 'identity'
    if (ACCEPTED.br.test(acceptEncoding)) return 'br'
    return ACCEPTED.gzip.test(acceptEncoding) ? 'gzip' : 'identity'
  }
}

/** Returns Age (RFC 9111) and Cache-Status (RFC 9211), which caches must not store. */
function cacheStatus(age: number): ResponseHeaders {
  return { age, [STALE_HEADER]: STALE_STATUS + age }
}

/** Returns whether If-None-Match names one of the ETags, strong or weak. */
export function isNotModified(
  { tag }: Pick<CachedResponse, 'tag'>,
  ifNoneMatch: string | undefined,
): boolean {
  return ifNoneMatch?.trim() === '*' || (ifNoneMatch?.includes(`"${tag}`) ?? false)
}

function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(body, { level: GZIP_LEVEL })
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  }
  return promisify(brotliCompress)(body, { params })
}
