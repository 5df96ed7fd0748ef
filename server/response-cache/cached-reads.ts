import type { Post, PostPage } from '../../contract/posts.ts'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import type { Outage } from '../db/outage.ts'
import { API_PREFIX, type CachedEndpoint, type Http } from '../http/route.ts'
import type { MemoryCache, SavedHit } from './cache.ts'
import {
  type CachedResponse,
  type LikeOffset,
  sendCached,
  toCachedResponse,
  waitsForCompression,
} from './cached-response.ts'
import { createSharedReads } from './shared-reads.ts'

export type CachedReadsOptions = {
  /** Resolves to those of some posts that a user likes. */
  likedBy: (question: { userId: string; postIds: string[] }) => Promise<Set<string>>
  /** Headers that every response of the server has. */
  headers: Record<string, string>
  outage: Outage
}

/** A read that the contract marks with `cache`, and the URL under which its response is cached. */
type CachedRead = { endpoint: CachedEndpoint; url: string }
/** What visitors are served with; `age` is set where that is only because the database is unavailable. */
type Served = Pick<SavedHit, 'response'> & { age?: number }

const JSON_TYPE = 'application/json; charset=utf-8'
// Of one length, so that one may stand in the other's place: JSON allows the space.
const NOT_LIKED = 'false'
const LIKED = 'true '
const IS_LIKED = /(?<="is_liked":)(?:true|false)/

/** Serves visitors from `cache` where it can. Otherwise those that ask for the same URL at the same time share a read. */
export function createCachedReads(
  cache: MemoryCache,
  { likedBy, headers, outage }: CachedReadsOptions,
) {
  const shared = createSharedReads(cache)

  /** Resolves to a cached response for visitors, or to what `make` resolves to. Rejects as `make` does. */
  async function current(url: string, make: () => Promise<CachedResponse>) {
    const find = () => cache.getForVisitor(url)
    // Another request may have filled the cache while this one waited for its turn.
    return find() ?? shared.join(url, make, find) ?? shared.start(url, make)
  }

  /** As `current`; but while the database cannot be asked, the saved response is served. */
  async function serveVisitor(url: string, make: () => Promise<CachedResponse>): Promise<Served> {
    const saved = outage.isDoubtful() && (await readSaved(url, outage.isAway()))
    if (saved) return saved
    try {
      return { response: await outage.orAway(current(url, make)) }
    } catch (error) {
      const isUnavailable = error instanceof Error && isDatabaseUnavailable(error)
      const last = isUnavailable && (await readSaved(url, true))
      if (!last) throw error
      outage.noteFailure(error)
      return last
    }
  }

  async function readSaved(url: string, mayBeOutdated: boolean): Promise<Served | undefined> {
    const hit = cache.getSaved(url, mayBeOutdated)
    if (!hit) return undefined
    outage.noteSaved()
    if (!hit.response.toSaved) return hit
    const response = await hit.response.toSaved()
    cache.replaceSaved(url, hit.response, response)
    return { ...hit, response }
  }

  async function toResponse({ endpoint: { path, cache: rule } }: CachedRead, answer: unknown) {
    const page = answer as Post | PostPage
    const pieces = JSON.stringify(page).split(IS_LIKED)
    return toCachedResponse({
      route: API_PREFIX + path,
      maxAgeMs: rule.maxAgeSeconds * 1000,
      body: Buffer.from(pieces.join(NOT_LIKED)),
      type: JSON_TYPE,
      headers,
      vary: 'Authorization',
      likes: likesIn(page, pieces),
      postIds: postIdsOf(page),
      isCompressedLater: true,
    })
  }

  /** Reads as a user, whose JSON needs no second query for likes, and shares the rest with all others. */
  async function readForUser(what: CachedRead, read: () => Promise<unknown>): Promise<Buffer> {
    const answer = read()
    shared.start(what.url, async () => toResponse(what, await answer)).catch(() => {})
    return Buffer.from(JSON.stringify(await answer))
  }

  return {
    /**
     * Serves an endpoint with a `cache` entry: sets the headers of the reply and returns the JSON to send, with the
     * viewer's own likes filled in. Rejects as `read` does; but while the database is away a visitor gets the saved
     * response, marked by its `Age`.
     */
    async serveRead(
      { endpoint, http }: { endpoint: CachedEndpoint; http: Http },
      read: () => Promise<unknown>,
    ): Promise<Buffer> {
      const { url, viewer } = http.request
      const what = { endpoint, url }
      const make = async () => toResponse(what, await read())
      if (!viewer) {
        const served = await serveVisitor(url, make)
        const accepted = http.request.headers['accept-encoding']
        if (waitsForCompression(served.response, accepted)) await served.response.compress?.()
        return sendCached(http, served)
      }
      http.reply.type(JSON_TYPE)
      // Nothing may be awaited here: otherwise each call of one turn of the event loop would begin a read of its own.
      const cached = cache.getForUser(url) ?? shared.join(url, make)
      if (!cached) return readForUser(what, read)
      const response = await cached
      const postIds = response.likes.map(({ postId }) => postId)
      return fillInLikes(response, await likedBy({ userId: viewer.userId, postIds }))
    },

    /**
     * Resolves to what a visitor would get from an endpoint at a URL of the API. Rejects as `read` does, also while the
     * database is unavailable: what is made of it would not tell its age.
     */
    async readAsVisitor<T extends Post | PostPage>(
      what: CachedRead,
      read: () => Promise<T>,
    ): Promise<T> {
      const response = await current(what.url, async () => toResponse(what, await read()))
      return JSON.parse(response.variants.identity.body.toString())
    },

    /**
     * Serves a visitor with the cached response at a URL, or with what `make` resolves to: sets the headers of the reply
     * and returns the body to send. Rejects as `make` does.
     */
    async serveShared(
      { url, ...http }: Http & { url: string },
      make: () => Promise<CachedResponse>,
    ): Promise<Buffer> {
      return sendCached(http, await serveVisitor(url, make))
    },
  }
}

/** Returns the posts of a page, and where the body that joins the pieces by NOT_LIKED says whether each is liked. */
function likesIn(page: Post | PostPage, pieces: string[]): LikeOffset[] {
  let offset = -NOT_LIKED.length
  return postIdsOf(page).map((postId, index) => {
    offset += NOT_LIKED.length + Buffer.byteLength(pieces[index] ?? '')
    return { postId, offset }
  })
}

/** Returns the ids of the posts in an answer, in the order in which its JSON names `is_liked`. */
export function postIdsOf(page: Post | Pick<PostPage, 'posts'>): string[] {
  const posts = 'posts' in page ? page.posts : [page]
  return posts.flatMap(({ id, actions }) =>
    actions.replied_post ? [id, actions.replied_post.id] : [id],
  )
}

/** Returns the JSON with the likes of one viewer. */
function fillInLikes({ variants, likes }: CachedResponse, liked: Set<string>): Buffer {
  const { body } = variants.identity
  if (liked.size === 0) return body
  const own = Buffer.from(body)
  for (const { postId, offset } of likes) {
    if (liked.has(postId)) own.write(LIKED, offset, 'latin1')
  }
  return own
}
