import { LRUCache } from 'lru-cache'
import { type CachedResponse, sizeOf } from './cached-response.ts'
import type { Change } from './change.ts'

/** A response that is no longer current, and how many seconds ago it was read. */
export type Stale = { response: CachedResponse; age: number }

/** The version at which a read began, and when, by the monotonic clock. */
export type Begin = { version: number; at: number }

type Entry = Begin & { cachedAt: number; response: CachedResponse }

const MAX_AGE_MS = 1000
/** How long a made page is served without newer posts: rendering each would take most of a core. */
const PAGE_MS = 100
const MAX_STALE_MS = 10 * 60_000
const MAX_BYTES = 32 * 1024 * 1024

export type MemoryCache = ReturnType<typeof createMemoryCache>

/**
 * Caches responses by URL in bounded memory: for a second while their version is current, then for
 * ten minutes as stale ones, unless a post that they show is edited or removed.
 */
export function createMemoryCache({ maxBytes = MAX_BYTES, clock = () => performance.now() } = {}) {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ response }, url) => sizeOf(response) + 2 * url.length,
  })
  /** Raised by every change of posts. */
  let version = 0
  /** The version that the last edit or removal made. */
  let lastEdit = 0
  let isSubscribed = false

  function raise(isEdit: boolean): void {
    version++
    if (isEdit) lastEdit = version
  }

  /** Whether an answer of a read that began then may be served. */
  function isCurrent(begin: Begin): boolean {
    return begin.version === version && clock() - begin.at <= MAX_AGE_MS
  }

  return {
    /** Call it before the first statement of a read. */
    begin: (): Begin => ({ version, at: clock() }),

    isCurrent,

    get(url: string): CachedResponse | undefined {
      const entry = entries.get(url)
      if (!entry) return undefined
      const isFreshPage = entry.response.isPage && clock() - entry.cachedAt < PAGE_MS
      return isCurrent(entry) || isFreshPage ? entry.response : undefined
    },

    /** Returns the response for visitors while the database fails. */
    getStale(url: string): Stale | undefined {
      const entry = entries.get(url)
      const ms = entry ? clock() - entry.at : 0
      if (!entry || ms > MAX_STALE_MS) return undefined
      const { response } = entry
      return { response: response.toStale?.() ?? response, age: Math.floor(ms / 1000) }
    },

    /** Not cached if posts were edited or removed since, or changes of others are not received. */
    put(url: string, response: CachedResponse, begin: Begin): void {
      if (isSubscribed && begin.version >= lastEdit)
        entries.set(url, { ...begin, cachedAt: clock(), response })
    },

    /** Raises the version, and deletes the responses that show an edited or removed post. */
    invalidate(change: Change): void {
      raise(change.kind !== 'added')
      if (change.kind === 'added') return
      const { postId } = change
      for (const [url, { response }] of [...entries.entries()]) {
        const shows = !postId || !response.postIds || response.postIds.includes(postId)
        if (shows) entries.delete(url)
      }
    },

    /** Nothing is cached while this node does not receive the changes of others. */
    setSubscribed(value: boolean): void {
      isSubscribed = value
      raise(true)
      // Changes may have been missed. What was cached has stayed until now, for an outage.
      if (value) entries.clear()
    },
  }
}

type Make = () => Promise<CachedResponse>
type Read = {
  begin: Begin
  response: Promise<CachedResponse>
  next?: Promise<CachedResponse>
}

/** Makes reads of one URL at the same time one read (single-flight), and caches their result. */
export function createSharedReads(cache: MemoryCache) {
  const reading = new Map<string, Read>()

  function start(url: string, make: Make): Promise<CachedResponse> {
    const begin = cache.begin()
    const response = make().then((made) => {
      cache.put(url, made, begin)
      return made
    })
    const read: Read = { begin, response }
    reading.set(url, read)
    const end = () => {
      if (reading.get(url) === read) reading.delete(url)
    }
    response.then(end, end)
    return response
  }

  /**
   * Returns the cached response or the read in flight. If that is no longer current, all who wait
   * share the next read: a crowd costs one read at a time.
   */
  function find(url: string, make: Make): CachedResponse | Promise<CachedResponse> | undefined {
    const cached = cache.get(url)
    const read = reading.get(url)
    if (cached || !read) return cached
    if (cache.isCurrent(read.begin)) return read.response
    const startNext = async () => cache.get(url) ?? start(url, make)
    read.next ??= read.response.then(startNext, startNext)
    return read.next
  }

  return { start, find }
}
