import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { SAVED_HEADER, SAVED_STATUS } from '../../../contract/constants.ts'

export type ResponseHeaders = Record<string, string | number>
type Encoding = 'br' | 'gzip' | 'identity'
/** A body in one encoding, with the headers of 200 and of 304. */
type Variant = { body: Buffer; headers: ResponseHeaders; notModifiedHeaders: ResponseHeaders }

/** A response that all visitors share. Only compressed variants are added to it later. */
export type CachedResponse = {
  route: string
  /** A page is served before any route only to requests without a cookie. */
  isPage: boolean
  /** The common part of the ETags of all variants. */
  tag: string
  variants: Partial<Record<Encoding, Variant>> & { identity: Variant }
  compress: (encoding: 'br' | 'gzip') => Promise<Variant>
  /** What the body shows, for signed-in viewers' own bodies; absent if these get another response. */
  answer?: unknown
  /** Of a signed-in viewer's own body, but for its length. */
  ownHeaders?: ResponseHeaders
  /** The posts whose text it shows; undefined where that may be any. */
  postIds: string[] | undefined
  /** Returns the response whose body says that it is stale; absent where the headers are enough. */
  toStale?: () => CachedResponse
}

type Content = {
  route: string
  body: Buffer
  /** The body compressed by Brotli, where it is at hand. */
  packed?: Buffer | undefined
  type: string
  headers: ResponseHeaders
  vary?: 'Authorization' | 'Cookie'
  cacheControl?: string
  isPage?: boolean
  /** Names this state of the content; a hash of the body by default. */
  tag?: string
  answer?: unknown
  postIds?: string[]
  /** Returns the body that says that it is stale, for readers who cannot see headers. */
  markSaved?: (body: string) => string
}

const COMPRESSED_MIN = 1024
/** Higher levels cost several times as much CPU for some percent. */
const BROTLI_QUALITY = 5
const GZIP_LEVEL = 6
const ACCEPTS_BROTLI = /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i
const ACCEPTS_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i
/** A CDN may serve it as long as we do, and while the server is away (RFC 5861). */
export const CACHE_CONTROL =
  'public, max-age=0, s-maxage=1, stale-while-revalidate=5, stale-if-error=3600'

/** Makes the response to cache. Its body is compressed when somebody first asks for it so. */
export function toCachedResponse(content: Content): CachedResponse {
  const { route, body, packed, answer, postIds, isPage = false, markSaved } = content
  const tag = content.tag ?? createHash('sha1').update(body).digest('base64url')
  const common = {
    ...content.headers,
    'cache-control': content.cacheControl ?? CACHE_CONTROL,
    vary: content.vary ? `${content.vary}, Accept-Encoding` : 'Accept-Encoding',
  }
  const variant = (bytes: Buffer, encoding: Encoding): Variant => {
    // Two encodings are two representations, each with its own ETag (RFC 9110, 8.8.3.3).
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
  const variants: CachedResponse['variants'] = {
    identity: variant(body, 'identity'),
    ...(packed && { br: variant(packed, 'br') }),
  }
  const compressing: { br?: Promise<Variant>; gzip?: Promise<Variant> } = {}

  async function addVariant(encoding: 'br' | 'gzip'): Promise<Variant> {
    const bytes = await (encoding === 'br' ? compressBrotli : compressGzip)(body)
    const added = variant(bytes, encoding)
    variants[encoding] = added
    return added
  }

  let stale: CachedResponse | undefined
  const makeStale = (mark: NonNullable<typeof markSaved>) => {
    const { markSaved: _, packed: __, ...rest } = content
    // Another tag than the fresh one's, so that no browser takes one for the other.
    const marked = { body: Buffer.from(mark(body.toString())), tag: `saved-${tag}` }
    return toCachedResponse({ ...rest, ...marked })
  }
  return {
    route,
    isPage,
    tag,
    variants,
    compress: (encoding) => {
      compressing[encoding] ??= addVariant(encoding)
      return compressing[encoding]
    },
    ...(answer !== undefined && {
      answer,
      ownHeaders: {
        ...content.headers,
        'cache-control': 'no-store',
        'content-type': content.type,
      },
    }),
    postIds,
    ...(markSaved && {
      toStale: () => {
        stale ??= makeStale(markSaved)
        return stale
      },
    }),
  }
}

/**
 * Names its age (RFC 9111), and that it is served past its time (RFC 9211), since a cache may add
 * an Age to a fresh one. No cache may keep them: a later 304 would mark a fresh response.
 */
export function staleHeaders(age: number): ResponseHeaders {
  return { age, [SAVED_HEADER]: SAVED_STATUS + age, 'cache-control': 'no-store' }
}

/** Resolves to the smallest variant that a client with this Accept-Encoding can read. */
export async function variantFor(
  response: CachedResponse,
  acceptEncoding: unknown,
): Promise<Variant> {
  const encoding = encodingFor(response, acceptEncoding)
  const ready = response.variants[encoding]
  return (
    ready ?? (encoding === 'identity' ? response.variants.identity : response.compress(encoding))
  )
}

/** Returns the same variant; undefined where it has to be compressed first. */
export function readyVariant(
  response: CachedResponse,
  acceptEncoding: unknown,
): Variant | undefined {
  return response.variants[encodingFor(response, acceptEncoding)]
}

function encodingFor({ variants }: CachedResponse, acceptEncoding: unknown): Encoding {
  if (variants.identity.body.length < COMPRESSED_MIN) return 'identity'
  if (acceptsBrotli(acceptEncoding)) return 'br'
  return acceptsGzip(acceptEncoding) ? 'gzip' : 'identity'
}

/** Whether If-None-Match names one of the ETags, perhaps as a proxy's weak one. */
export function isNotModified(
  { tag }: Pick<CachedResponse, 'tag'>,
  ifNoneMatch: string | undefined,
): boolean {
  return ifNoneMatch?.trim() === '*' || (ifNoneMatch?.includes(`"${tag}`) ?? false)
}

/** Counts the object of the answer, and the variants and the stale response that may be added. */
export function sizeOf({ variants, answer, toStale }: CachedResponse): number {
  return 4096 + variants.identity.body.length * (toStale || answer !== undefined ? 4 : 2)
}

function compressBrotli(body: Buffer): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  }
  return promisify(brotliCompress)(body, { params })
}

export function compressGzip(body: Buffer): Promise<Buffer> {
  return promisify(gzip)(body, { level: GZIP_LEVEL })
}

export function acceptsGzip(acceptEncoding: unknown): boolean {
  return typeof acceptEncoding === 'string' && ACCEPTS_GZIP.test(acceptEncoding)
}

export function acceptsBrotli(acceptEncoding: unknown): boolean {
  return typeof acceptEncoding === 'string' && ACCEPTS_BROTLI.test(acceptEncoding)
}
