import { createHash } from 'node:crypto'
import { SAVED_HEADER, SAVED_STATUS } from '../../contract/constants.ts'
import type { Http } from '../http/route.ts'
import { acceptsGzip, compressBrotli, compressGzip } from './compression.ts'

type ResponseHeaders = Record<string, string | number>
type Encoding = 'br' | 'gzip' | 'identity'
/** A body in one encoding, with all headers of a response that has it, and of one without it (304). */
type Variant = { body: Buffer; headers: ResponseHeaders; notModifiedHeaders: ResponseHeaders }
/** A post in the JSON, and the byte at which the value of its `is_liked` begins. */
export type LikeOffset = { postId: string; offset: number }

/** Response that all visitors share. It never changes once it is made, except that compressed variants may be added. */
export type CachedResponse = {
  /** The route's pattern, as the log names it. */
  route: string
  /** For how long visitors may be served with it (ms). */
  maxAgeMs: number
  /** How often it is made again where posts are added one after another (ms); absent: after each of them. */
  refreshedEveryMs?: number
  /** Whether it is a page: then only requests without a cookie may be served with it. */
  isPage: boolean
  /** What the ETags of all its variants have in common. */
  tag: string
  variants: Partial<Record<Encoding, Variant>> & { identity: Variant }
  /** The posts of a JSON body; empty for others. */
  likes: LikeOffset[]
  /** The posts whose text it shows; undefined where that may be any. */
  postIds: string[] | undefined
  /** Makes the response whose body says that it was saved; absent where the headers are enough. */
  toSaved?: () => Promise<CachedResponse>
  /** Adds the compressed variants, once for all who ask; absent where they are there. */
  compress?: () => Promise<void>
  /** The bytes that variants to be added may take. */
  laterBytes?: number
}

type Content = Pick<CachedResponse, 'route' | 'maxAgeMs' | 'refreshedEveryMs'> & {
  body: Buffer
  type: string
  /** Headers that every response of the server has. */
  headers: ResponseHeaders
  /** The name of the request's header on which the response depends besides Accept-Encoding. */
  vary?: 'Authorization' | 'Cookie'
  /** Cache-Control, where it is not that of a public read. */
  cacheControl?: string
  isPage?: boolean
  /** Names this state of the content; a hash of the body by default. */
  tag?: string
  likes?: LikeOffset[]
  postIds?: string[]
  /** Returns the body that says that it was saved, for readers who cannot see headers. */
  markSaved?: (body: string) => string
  /** Whether to compress it only when somebody asks: users who are signed in get it as it is. */
  isCompressedLater?: boolean
}

/** Smaller bodies would hardly become smaller. */
const COMPRESSED_MIN = 1024
/** A proxy may serve its copy for this long while it fetches a new one, and while the server is away (RFC 5861). */
const STALE = 'stale-while-revalidate=5, stale-if-error=3600'
const ACCEPTS_BROTLI = /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

/** Makes the response to cache, with its body in every encoding, now or later; it is compressed off the main thread. */
export async function toCachedResponse(content: Content): Promise<CachedResponse> {
  const { route, maxAgeMs, refreshedEveryMs, body, likes = [], postIds, isPage = false } = content
  const tag = content.tag ?? createHash('sha1').update(body).digest('base64url')
  const common = {
    ...content.headers,
    // A CDN may serve it for as long as we do; a browser asks each time and gets 304 when nothing has changed.
    'cache-control':
      content.cacheControl ?? `public, max-age=0, s-maxage=${maxAgeMs / 1000}, ${STALE}`,
    vary: content.vary ? `${content.vary}, Accept-Encoding` : 'Accept-Encoding',
  }
  const variant = (bytes: Buffer, encoding: Encoding): Variant => {
    // Two encodings are two representations, so that each has an ETag of its own (RFC 9110, 8.8.3.3).
    const etag = encoding === 'identity' ? `"${tag}"` : `"${tag}-${encoding}"`
    const notModifiedHeaders = { ...common, etag }
    const headers = {
      ...notModifiedHeaders,
      'content-type': content.type,
      'content-length': bytes.length,
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    }
    return { body: bytes, headers, notModifiedHeaders }
  }
  const variants: CachedResponse['variants'] = { identity: variant(body, 'identity') }
  const toSaved = savedMaker({ ...content, tag })
  const shown = { likes, postIds, ...(toSaved && { toSaved }) }
  const times = { maxAgeMs, ...(refreshedEveryMs !== undefined && { refreshedEveryMs }) }
  const response: CachedResponse = { route, ...times, isPage, tag, variants, ...shown }
  if (body.length < COMPRESSED_MIN) return response

  async function addCompressed(): Promise<void> {
    const [br, zipped] = await Promise.all([compressBrotli(body), compressGzip(body)])
    variants.br = variant(br, 'br')
    variants.gzip = variant(zipped, 'gzip')
    delete response.compress
  }
  if (!content.isCompressedLater) {
    await addCompressed()
    return response
  }
  let adding: Promise<void> | undefined
  response.compress = () => {
    adding ??= addCompressed()
    return adding
  }
  response.laterBytes = body.length
  return response
}

/** Returns the function that makes the marked response, once for all who ask. */
function savedMaker({ markSaved, ...content }: Content & { tag: string }) {
  if (!markSaved) return undefined
  let made: Promise<CachedResponse> | undefined
  const make = () =>
    toCachedResponse({
      ...content,
      body: Buffer.from(markSaved(content.body.toString())),
      // Another than that of the fresh one, so that no browser takes its own copy for it, nor later this for fresh.
      tag: `saved-${content.tag}`,
    })
  return () => {
    made ??= make()
    return made
  }
}

/**
 * Sets the headers of a reply to a cached response, and returns its body; the status is 304 and the body empty where the
 * client has it already. A saved response has its age in seconds, and is always sent whole.
 */
export function sendCached(
  { request, reply }: Http,
  { response, age }: { response: CachedResponse; age?: number },
): Buffer {
  const variant = variantFor(response, request.headers['accept-encoding'])
  if (age === undefined && isNotModified(response, request.headers['if-none-match'])) {
    reply.code(304).headers(variant.notModifiedHeaders)
    return Buffer.alloc(0)
  }
  reply.headers(variant.headers)
  if (age !== undefined) reply.headers(savedHeaders(age))
  return variant.body
}

/**
 * Returns the headers of a saved response: how many seconds ago it was right (RFC 9111), and that it is served past its time
 * (RFC 9211), since a cache on the way may add an Age to a fresh one too. No cache may keep them: with a later 304 they would
 * mark a fresh response.
 */
export function savedHeaders(age: number): ResponseHeaders {
  return { age, [SAVED_HEADER]: SAVED_STATUS + age, 'cache-control': 'no-store' }
}

/** Whether a client with this Accept-Encoding is to wait until a response is compressed. */
export function waitsForCompression(
  { compress }: CachedResponse,
  acceptEncoding: unknown,
): boolean {
  if (!compress || typeof acceptEncoding !== 'string') return false
  return ACCEPTS_BROTLI.test(acceptEncoding) || acceptsGzip(acceptEncoding)
}

/** Returns the variant for a request with this Accept-Encoding: the smallest one that its client can read. */
export function variantFor({ variants }: CachedResponse, acceptEncoding: unknown): Variant {
  if (typeof acceptEncoding !== 'string') return variants.identity
  if (variants.br && ACCEPTS_BROTLI.test(acceptEncoding)) return variants.br
  if (variants.gzip && acceptsGzip(acceptEncoding)) return variants.gzip
  return variants.identity
}

/** Whether the client already has this response: its If-None-Match names one of the ETags, perhaps as a weak one of a proxy. */
export function isNotModified(
  { tag }: Pick<CachedResponse, 'tag'>,
  ifNoneMatch: string | undefined,
): boolean {
  return ifNoneMatch?.includes(`"${tag}`) ?? false
}

/** Bytes that a response takes: its bodies, those to be added, and the rest. */
export function sizeOf({ variants, laterBytes }: CachedResponse): number {
  if (laterBytes !== undefined) return variants.identity.body.length + laterBytes + 4096
  const bodies = Object.values(variants).map(({ body }) => body.length)
  return bodies.reduce((sum, length) => sum + length, 4096)
}
