import { type CachedResponse, sizeOf } from './cached-response.ts'
import { createLikeChanges } from './like-changes.ts'

/** A cached response and its age in seconds. */
export type CacheHit = { response: CachedResponse; age: number }

/** What a committed write changed, as far as cached responses show it: posts, likes, or the likes of the post with an id. */
export type Change = 'posts' | 'likes' | `likes ${string}`

/** How many changes of each kind this node knew of when a read began. */
export type Version = Record<'posts' | 'likes', number>

type Entry = {
  response: CachedResponse
  version: Version
  /** How many changes of posts were known when it was cached; losing the change feed does not count as one. */
  postChanges: number
  /** By the monotonic clock (ms): a wrong wall clock must not make responses older or younger. */
  cachedAt: number
}

/** While the database is unavailable, visitors are served with responses that are not older than this. */
const MAX_OUTAGE_MS = 10 * 60_000
const MAX_BYTES = 32 * 1024 * 1024

export type MemoryCache = ReturnType<typeof createMemoryCache>

/**
 * Caches responses by URL in bounded memory. A publication, edit or deletion on any node invalidates all of them at
 * once; a like invalidates those that show its post, for signed-in viewers. Responses that are merely too old stay, for
 * visitors who ask while the database is unavailable. `clock` returns monotonic milliseconds.
 */
export function createMemoryCache({ maxBytes = MAX_BYTES, clock = () => performance.now() } = {}) {
  const entries = new Map<string, Entry>()
  const likeChanges = createLikeChanges()
  let posts = 0
  let postChanges = 0
  let bytes = 0
  let isSubscribed = false

  const ageOf = ({ cachedAt }: Entry) => clock() - cachedAt

  function evict(url: string, { response }: Entry): void {
    entries.delete(url)
    bytes -= sizeOf(response) + 2 * url.length
  }

  /** The entry of a URL that may be served at least during an outage; one that may not is evicted. */
  function find(url: string): Entry | undefined {
    const entry = entries.get(url)
    if (!entry) return undefined
    if (entry.postChanges === postChanges && ageOf(entry) <= MAX_OUTAGE_MS) return entry
    evict(url, entry)
    return undefined
  }

  function isFresh(entry: Entry): boolean {
    return entry.version.posts === posts && ageOf(entry) <= entry.response.maxAgeMs
  }

  return {
    /** The version now, for a read that is about to begin. */
    version: (): Version => ({ posts, likes: likeChanges.count() }),

    isCurrent: (version: Version): boolean =>
      version.posts === posts && version.likes === likeChanges.count(),

    /** Returns what a visitor may be served with now. */
    getForVisitor(url: string): CachedResponse | undefined {
      const entry = find(url)
      return entry && isFresh(entry) ? entry.response : undefined
    },

    /** Returns what a signed-in viewer may be served with now: it includes every like that this node knows of. */
    getForUser(url: string): CachedResponse | undefined {
      const entry = find(url)
      if (!entry || !isFresh(entry)) return undefined
      const { response, version } = entry
      return likeChanges.isCurrent(version.likes, response.likes) ? response : undefined
    },

    /**
     * Returns what a visitor may be served with while the database is unavailable: the last response of ten minutes,
     * unless this node knows that posts have changed since.
     */
    getDuringOutage(url: string): CacheHit | undefined {
      const entry = find(url)
      return entry && { response: entry.response, age: Math.floor(ageOf(entry) / 1000) }
    },

    /**
     * Caches the response of a read that began at `version`, unless posts have changed since or this node does not
     * receive the changes of others. Evicts what is too old, and the oldest entries where memory is short.
     */
    put(url: string, response: CachedResponse, version: Version): void {
      if (version.posts !== posts || !isSubscribed) return
      const old = entries.get(url)
      if (old) evict(url, old)
      entries.set(url, { response, version, postChanges, cachedAt: clock() })
      bytes += sizeOf(response) + 2 * url.length
      for (const [oldest, entry] of entries) {
        if (bytes <= maxBytes && ageOf(entry) <= MAX_OUTAGE_MS) break
        evict(oldest, entry)
      }
    },

    /** Invalidates the responses that a committed change made wrong. */
    invalidate(change: Change): void {
      if (change !== 'posts') {
        likeChanges.note(change.split(' ')[1])
        return
      }
      posts++
      postChanges++
    },

    /** Sets whether this node receives the changes of others: nothing is cached while it does not. */
    setSubscribed(value: boolean): void {
      isSubscribed = value
      posts++
      // During an outage perhaps nothing has changed; once changes arrive again, some may have been missed.
      if (value) postChanges++
    },
  }
}
