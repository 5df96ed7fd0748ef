import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SAVED_HEADER, SAVED_STATUS } from '../../../contract/constants.ts'

export type ResponseHeaders = Record<string, string | number>
type Encoding = 'br' | 'gzip' | 'identity'
type AcceptEncoding = string | undefined
/** A body in one encoding, with the headers of 200 and of 304. */
type Variant = { body: Buffer; headers: ResponseHeaders; notModifiedHeaders: ResponseHeaders }

type Content = {
  route: string
  body: Buffer
  /** The body compressed by Brotli, if it is at hand. */
  packed?: Buffer | undefined
  type: string
  headers: ResponseHeaders
  vary?: 'Authorization' | 'Cookie'
  cacheControl?: string
  /** A page is served before any route only to requests without a cookie. */
  isPage?: boolean
  /** Names this state of the content; a hash of the body by default. */
  tag?: string
  /**
   * The body's value, from which signed-in viewers' bodies are made; absent if they get another
   * response.
   */
  answer?: unknown
  /** The posts whose text it shows; absent if it may show any post. */
  postIds?: string[]
  /** Returns a body that states that it is stale, for readers who cannot see headers. */
  markSaved?: (body: string) => string
}

const COMPRESSED_MIN = 1024
/** Higher levels cost several times as much CPU and save only some percent. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6
const ACCEPTED = {
  br: /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i,
  gzip: /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i,
}
/** A CDN may serve a response for the time that we do, and while the server fails (RFC 5861). */
export const CACHE_CONTROL =
  'public, max-age=0, s-maxage=1, stale-while-revalidate=5, stale-if-error=3600'

/**
 * A response that all visitors share. Its body is compressed at the first request for that
 * encoding.
 */
export class CachedResponse {
  readonly route: string
  readonly isPage: boolean
  /** The common part of the ETags of all variants. */
  readonly tag: string
  readonly answer: unknown
  readonly postIds: string[] | undefined
  readonly identity: Variant
  readonly #content: Content
  readonly #variants: Partial<Record<Encoding, Variant>>
  readonly #compressing: Partial<Record<Encoding, Promise<Variant>>> = {}
  #stale: CachedResponse | undefined

  constructor(content: Content) {
    const { route, body, packed, isPage = false, answer, postIds } = content
    this.route = route
    this.isPage = isPage
    this.tag = content.tag ?? createHash('sha1').update(body).digest('base64url')
    this.answer = answer
    this.postIds = postIds
    this.#content = content
    this.identity = this.#variantOf(body, 'identity')
    this.#variants = {
      identity: this.identity,
      ...(packed && { br: this.#variantOf(packed, 'br') }),
    }
  }

  /** Of a signed-in viewer's own body, but for its length. */
  get ownHeaders(): ResponseHeaders {
    const { headers, type } = this.#content
    return { ...headers, 'cache-control': 'no-store', 'content-type': type }
  }

  /** In bytes: the body, its value, and the variants and the stale body that may be added. */
  get size(): number {
    const { markSaved, answer, body } = this.#content
    return 4096 + body.length * (markSaved || answer !== undefined ? 4 : 2)
  }

  /** Resolves to the smallest variant that a client with this Accept-Encoding can read. */
  async variantFor(acceptEncoding: AcceptEncoding): Promise<Variant> {
    const encoding = this.#encodingFor(acceptEncoding)
    const ready = this.#variants[encoding]
    if (ready) return ready
    this.#compressing[encoding] ??= this.#compress(encoding)
    return this.#compressing[encoding]
  }

  /** Returns that variant if it needs no compression first, otherwise undefined. */
  readyVariant(acceptEncoding: AcceptEncoding): Variant | undefined {
    return this.#variants[this.#encodingFor(acceptEncoding)]
  }

  /** Returns the response whose body states that it is stale, or this one if headers are enough. */
  toStale(): CachedResponse {
    const { markSaved, packed: _, ...content } = this.#content
    if (!markSaved) return this
    this.#stale ??= new CachedResponse({
      ...content,
      body: Buffer.from(markSaved(content.body.toString())),
      // Its ETag differs from the fresh response's, so that no browser confuses them.
      tag: `saved-${this.tag}`,
    })
    return this.#stale
  }

  /**
   * Sets headers and status, and returns the body. A stale response, with its age, is never 304.
   */
  async send(
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
    age?: number,
  ): Promise<Buffer> {
    const variant = await this.variantFor(request.headers['accept-encoding'])
    if (age === undefined && isNotModified(this, request.headers['if-none-match'])) {
      reply.code(304).headers(variant.notModifiedHeaders)
      return Buffer.alloc(0)
    }
    reply.headers(variant.headers)
    if (age !== undefined) reply.headers(staleHeaders(age))
    return variant.body
  }

  async #compress(encoding: Encoding): Promise<Variant> {
    const added = this.#variantOf(await compress(this.#content.body, encoding), encoding)
    this.#variants[encoding] = added
    return added
  }

  #variantOf(body: Buffer, encoding: Encoding): Variant {
    const { headers, cacheControl = CACHE_CONTROL, vary, type } = this.#content
    const notModifiedHeaders = {
      ...headers,
      'cache-control': cacheControl,
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

  #encodingFor(acceptEncoding: AcceptEncoding): Encoding {
    if (this.identity.body.length < COMPRESSED_MIN) return 'identity'
    if (accepts('br', acceptEncoding)) return 'br'
    return accepts('gzip', acceptEncoding) ? 'gzip' : 'identity'
  }
}

/**
 * Adds the response's age (RFC 9111), and that it is stale (RFC 9211), since a cache may add an Age
 * to a fresh one. No cache may store these headers: a later 304 would mark a fresh response as
 * stale.
 */
export function staleHeaders(age: number): ResponseHeaders {
  return { age, [SAVED_HEADER]: SAVED_STATUS + age, 'cache-control': 'no-store' }
}

/** Whether If-None-Match names one of the ETags, perhaps as a proxy's weak one. */
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
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  }
  return promisify(brotliCompress)(body, { params })
}

export function accepts(encoding: keyof typeof ACCEPTED, acceptEncoding = ''): boolean {
  return ACCEPTED[encoding].test(acceptEncoding)
}
