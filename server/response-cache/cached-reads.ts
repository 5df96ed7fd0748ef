import { createHash } from 'node:crypto'
import type { Post, PostPage } from '../../contract/posts.ts'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import { API_PREFIX, type CachedEndpoint, type Http } from '../http/route.ts'
import {
  type CachedResponse,
  type CacheHit,
  isNotModified,
  type MemoryCache,
  type ResponseHeaders,
  type Version,
} from './cache.ts'

export type CachedReadsOptions = {
  /** Resolves to those of some posts that a user likes. */
  likedBy: (question: { userId: string; postIds: string[] }) => Promise<Set<string>>
  /** Headers that every response of the server has. */
  headers: Record<string, string>
}

/** A read that the contract marks with `cache`, and the URL under which its response is cached. */
type CachedRead = { endpoint: CachedEndpoint; url: string }

type InFlight = { version: Version; response: Promise<CachedResponse> }

const JSON_TYPE = 'application/json; charset=utf-8'
const NOT_MODIFIED = 304
const IS_LIKED = /(?<="is_liked":)(?:true|false)/

/**
 * Serves reads from `cache` where it can. Otherwise one request reads for all that ask for the same URL at the same time
 * (single-flight), and its response is cached.
 */
export function createCachedReads(cache: MemoryCache, { likedBy, headers }: CachedReadsOptions) {
  const inFlight = new Map<string, InFlight>()

  function findInFlight(url: string): Promise<CachedResponse> | undefined {
    const found = inFlight.get(url)
    return found && cache.isCurrent(found.version) ? found.response : undefined
  }

  /** Reads as the viewer who asked first, whose JSON needs no second query for likes; the others share the rest. */
  async function startRead({ endpoint, url }: CachedRead, read: () => Promise<unknown>) {
    const version = cache.version()
    const reading = read().then((answer) => {
      const page = answer as Post | PostPage
      const json = JSON.stringify(page)
      return { json, response: toCachedResponse(page, json, { endpoint, headers }) }
    })
    const response = reading.then((done) => done.response)
    response.catch(() => {})
    const started = { version, response }
    inFlight.set(url, started)
    try {
      const done = await reading
      cache.put(url, done.response, version)
      return done
    } finally {
      if (inFlight.get(url) === started) inFlight.delete(url)
    }
  }

  /** Returns what a visitor is served with; `age` is set where that is only because the database is unavailable. */
  async function readForVisitor(
    what: CachedRead,
    read: () => Promise<unknown>,
  ): Promise<Pick<CacheHit, 'response'> & { age?: number }> {
    // Another request may have filled the cache while this one waited for its turn.
    const cached = cache.getForVisitor(what.url)
    if (cached) return { response: cached }
    try {
      return { response: (await findInFlight(what.url)) ?? (await startRead(what, read)).response }
    } catch (error) {
      const isUnavailable = error instanceof Error && isDatabaseUnavailable(error)
      const last = isUnavailable && cache.getDuringOutage(what.url)
      if (!last) throw error
      return last
    }
  }

  return {
    /**
     * Serves an endpoint with a `cache` entry: sets the headers of the reply and returns the JSON to send, with the
     * viewer's own likes filled in. Rejects as `read` does; but while the database is unavailable a visitor gets the last
     * response, marked by its `Age`.
     */
    async serveRead(
      { endpoint, http }: { endpoint: CachedEndpoint; http: Http },
      read: () => Promise<unknown>,
    ): Promise<Buffer> {
      const { url, viewer } = http.request
      const what = { endpoint, url }
      if (!viewer) return sendToVisitor(http, await readForVisitor(what, read))
      http.reply.type(JSON_TYPE)
      const shared = cache.getForUser(url) ?? (await findInFlight(url))
      if (!shared) return Buffer.from((await startRead(what, read)).json)
      return fillInLikes(shared, await likedBy({ userId: viewer.userId, postIds: shared.postIds }))
    },

    /** Resolves to what a visitor would get from an endpoint at a URL of the API. Rejects as `read` does. */
    async readAsVisitor<T extends Post | PostPage>(
      what: CachedRead,
      read: () => Promise<T>,
    ): Promise<T> {
      return JSON.parse((await readForVisitor(what, read)).response.body.toString())
    },
  }
}

function sendToVisitor(
  { request, reply }: Http,
  { response, age }: { response: CachedResponse; age?: number },
): Buffer {
  if (age !== undefined) reply.header('age', age)
  if (isNotModified(response, request.headers['if-none-match'])) {
    reply.code(NOT_MODIFIED).headers(response.notModifiedHeaders)
    return Buffer.alloc(0)
  }
  reply.headers(response.headers)
  return response.body
}

function toCachedResponse(
  page: Post | PostPage,
  json: string,
  { endpoint: { path, cache }, headers }: { endpoint: CachedEndpoint; headers: ResponseHeaders },
): CachedResponse {
  const pieces = json.split(IS_LIKED)
  const body = Buffer.from(pieces.join('false'))
  const etag = `"${createHash('sha1').update(body).digest('base64url')}"`
  const notModifiedHeaders = {
    ...headers,
    etag,
    // A CDN may serve it for as long as we do; a browser asks each time and gets 304 when nothing has changed.
    'cache-control': `public, max-age=0, s-maxage=${cache.maxAgeSeconds}`,
    vary: 'Authorization',
  }
  return {
    route: API_PREFIX + path,
    maxAgeMs: cache.maxAgeSeconds * 1000,
    body,
    etag,
    headers: { ...notModifiedHeaders, 'content-type': JSON_TYPE, 'content-length': body.length },
    notModifiedHeaders,
    pieces,
    postIds: idsOf(page),
  }
}

/** The ids of the posts in a response, in the order in which their JSON names `is_liked`. */
function idsOf(page: Post | PostPage): string[] {
  const posts = 'posts' in page ? page.posts : [page]
  return posts.flatMap(({ id, actions }) =>
    actions.replied_post ? [id, actions.replied_post.id] : [id],
  )
}

function fillInLikes({ body, pieces, postIds }: CachedResponse, liked: Set<string>): Buffer {
  if (liked.size === 0) return body
  const parts = postIds.map((id, index) => `${pieces[index]}${liked.has(id)}`)
  return Buffer.from(parts.join('') + (pieces.at(-1) ?? ''))
}
