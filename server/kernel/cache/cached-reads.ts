import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { API_PREFIX, READ_AFTER_WRITE_MS } from '../../../contract/constants.ts'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import { type Outage, withDeadline } from '../db/outage.ts'
import { AppError } from '../errors/app-error.ts'
import type { CachedEndpoint, Http, Viewer } from '../http/route.ts'
import type { MemoryCache, Stale } from './cache.ts'
import { createSharedReads } from './cache.ts'
import {
  type CachedResponse,
  isNotModified,
  staleHeaders,
  toCachedResponse,
  variantFor,
} from './cached-response.ts'

/** What each viewer sees otherwise in answers about posts: whether the viewer likes them. */
export type ViewerFlag = {
  postIdsOf: (answer: unknown) => string[]
  /** Returns the answer with the flag set for these posts, and for no other. */
  setFor: (answer: unknown, postIds: ReadonlySet<string>) => unknown
  /** Resolves to posts for which it is true, among them all of `postIds`; null for a closed session. */
  trueFor: (viewer: Viewer, postIds: readonly string[]) => Promise<ReadonlySet<string> | null>
}

export type CachedReadsOptions = {
  flag: ViewerFlag
  headers: Record<string, string>
  outage: Outage
}

/** More users than one node can answer writes of within two seconds. */
const WRITERS_MAX = 20_000
/** A frozen database breaks no connection: after this time a visitor gets the stale response. */
const SILENCE_MS = 700
const JSON_TYPE = 'application/json; charset=utf-8'
const NONE: ReadonlySet<string> = new Set()

export type CachedReads = ReturnType<typeof createCachedReads>

/** Serves reads from `cache`. Reads of the same URL at the same time are one read. */
export function createCachedReads(
  cache: MemoryCache,
  { flag, headers, outage }: CachedReadsOptions,
) {
  const shared = createSharedReads(cache)
  const writers = new LRUCache<string, true>({ max: WRITERS_MAX, ttl: READ_AFTER_WRITE_MS })

  /** Resolves to the current response, or to the stale one while the database fails or is silent. */
  async function readForVisitor(
    url: string,
    make: () => Promise<CachedResponse>,
  ): Promise<{ response: CachedResponse; age?: number }> {
    const serveStale = () => {
      const stale: Stale | undefined = cache.getStale(url)
      if (stale) outage.noteStale()
      return stale
    }
    const response = shared.find(url, make) ?? shared.start(url, make)
    if (!(response instanceof Promise)) return { response }
    const current = outage.orAway(response).then((made) => ({ response: made }))
    try {
      return (await withDeadline(current, SILENCE_MS, serveStale)) ?? (await current)
    } catch (error) {
      const stale = isDatabaseUnavailable(error as Error) ? serveStale() : undefined
      if (!stale) throw error
      outage.noteFailure(error as Error)
      return stale
    }
  }

  /** Reads as a user, without a second query for the flags, and shares the rest with all others. */
  async function readForUser(
    { endpoint, url }: { endpoint: CachedEndpoint; url: string },
    read: () => Promise<unknown>,
  ): Promise<Buffer> {
    const answer = read()
    shared.start(url, async () => toResponse(endpoint, await answer)).catch(() => {})
    return Buffer.from(JSON.stringify(await answer))
  }

  function toResponse({ path }: CachedEndpoint, answer: unknown): CachedResponse {
    const likedByNone = flag.setFor(answer, NONE)
    return toCachedResponse({
      route: API_PREFIX + path,
      body: Buffer.from(JSON.stringify(likedByNone)),
      answer: likedByNone,
      type: JSON_TYPE,
      headers,
      vary: 'Authorization',
      postIds: flag.postIdsOf(answer),
    })
  }

  /** Whether a user has just written, here or perhaps on another node: the web app says so. */
  function isPastCache({ userId }: { userId: string }, headers: IncomingHttpHeaders): boolean {
    return writers.has(userId) || (headers['cache-control']?.includes('no-cache') ?? false)
  }

  /** Resolves to the JSON with the viewer's flags. Throws UNAUTHORIZED for a closed session. */
  async function bodyFor(viewer: Viewer, cached: CachedResponse): Promise<Buffer> {
    const { answer, postIds = [], variants } = cached
    const isTrue = await flag.trueFor(viewer, postIds)
    if (!isTrue) throw new AppError('UNAUTHORIZED')
    // Most responses show nothing that the viewer likes.
    if (!postIds.some((postId) => isTrue.has(postId))) return variants.identity.body
    return Buffer.from(JSON.stringify(flag.setFor(answer, isTrue)))
  }

  return {
    isPastCache,
    bodyFor,

    /** Returns the JSON with the viewer's flags. A visitor may get a stale one. */
    async serveRead(
      { endpoint, http }: { endpoint: CachedEndpoint; http: Http },
      read: () => Promise<unknown>,
    ): Promise<Buffer> {
      const { url, viewer } = http.request
      const make = async () => toResponse(endpoint, await read())
      if (!viewer) return sendCached(http, await readForVisitor(url, make))
      http.reply.type(JSON_TYPE)
      // Nothing may be awaited here: each call of one turn would begin a read of its own.
      const cached = isPastCache(viewer, http.request.headers) ? undefined : shared.find(url, make)
      if (!cached) return readForUser({ endpoint, url }, read)
      return bodyFor(viewer, await cached)
    },

    /** Serves a visitor with the cached response at a URL, or with what `make` resolves to. */
    async serveShared(
      { url, ...http }: Http & { url: string },
      make: () => Promise<CachedResponse>,
    ): Promise<Buffer> {
      return sendCached(http, await readForVisitor(url, make))
    },

    /** Makes a user's reads of the next two seconds go past the cache, which may lack the write. */
    noteWrite(userId: string): void {
      writers.set(userId, true)
    },
  }
}

/** Sets headers and status, and returns the body. A stale response is never 304. */
export async function sendCached(
  { request, reply }: Http,
  { response, age }: { response: CachedResponse; age?: number },
): Promise<Buffer> {
  const variant = await variantFor(response, request.headers['accept-encoding'])
  if (age === undefined && isNotModified(response, request.headers['if-none-match'])) {
    reply.code(304).headers(variant.notModifiedHeaders)
    return Buffer.alloc(0)
  }
  reply.headers(variant.headers)
  if (age !== undefined) reply.headers(staleHeaders(age))
  return variant.body
}
