import { LRUCache } from 'lru-cache'
import type { CachedResponse } from './cached-response.ts'
import type { Change } from './change-feed.ts'

/** A response that is no longer current, and how many seconds ago it was read. */
export type Stale = { response: CachedResponse; age: number }

/** The version and the monotonic time at which a read began. */
type Begin = { version: number; at: number }

type Entry = Begin & { cachedAt: number; response: CachedResponse }

const MAX_AGE_MS = 1000
/**
 * How long a made page is served without newer posts. A page takes as long as two hundred cached
 * reads: beside the 50 posts a second of a cluster it kept 0.21 of its reads without this, and 0.71
 * with it, of a goal of 0.6 (`npm run bench -- --beside-writes`).
 */
const PAGE_MS = 100
const MAX_STALE_MS = 10 * 60_000
const MAX_BYTES = 32 * 1024 * 1024

/**
 * Caches responses by URL in bounded memory: for a second while their version is current, then for
 * ten minutes as stale ones, unless a post that they show is edited or removed.
 */
export class MemoryCache {
  readonly #entries: LRUCache<string, Entry>
  readonly #clock: () => number
  /** Raised by every change of posts. */
  #version = 0
  /** The version that the last edit or removal made. */
  #lastEdit = 0
  #isSubscribed = false

  constructor({ maxBytes = MAX_BYTES, clock = () => performance.now() } = {}) {
    this.#clock = clock
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ response }, url) => response.size + 2 * url.length,
    })
  }

  /** Call it before the first statement of a read. */
  begin(): Begin {
    return { version: this.#version, at: this.#clock() }
  }

  /** Whether the answer of a read that began then is still current. */
  isCurrent(begin: Begin): boolean {
    return begin.version === this.#version && this.#clock() - begin.at <= MAX_AGE_MS
  }

  get(url: string): CachedResponse | undefined {
    const entry = this.#entries.get(url)
    if (!entry) return undefined
    const isFreshPage = entry.response.isPage && this.#clock() - entry.cachedAt < PAGE_MS
    return this.isCurrent(entry) || isFreshPage ? entry.response : undefined
  }

  /** Returns the stale response, which visitors get while the database fails. */
  getStale(url: string): Stale | undefined {
    const entry = this.#entries.get(url)
    const ms = entry ? this.#clock() - entry.at : 0
    if (!entry || ms > MAX_STALE_MS) return undefined
    return { response: entry.response.toStale(), age: Math.floor(ms / 1000) }
  }

  /** Not cached if posts were edited or removed since, or changes of others are not received. */
  put(url: string, response: CachedResponse, begin: Begin): void {
    if (this.#isSubscribed && begin.version >= this.#lastEdit)
      this.#entries.set(url, { ...begin, cachedAt: this.#clock(), response })
  }

  /** Raises the version, and deletes the responses that show an edited or removed post. */
  invalidate(change: Change): void {
    this.#raise(change.kind !== 'added')
    if (change.kind === 'added') return
    const { postId } = change
    for (const [url, { response }] of [...this.#entries.entries()]) {
      const shows = !postId || !response.postIds || response.postIds.includes(postId)
      if (shows) this.#entries.delete(url)
    }
  }

  /** Nothing is cached while this node does not receive the changes of others. */
  setSubscribed(value: boolean): void {
    this.#isSubscribed = value
    this.#raise(true)
    // Changes may have been missed. What was cached has stayed until now, for an outage.
    if (value) this.#entries.clear()
  }

  #raise(isEdit: boolean): void {
    this.#version++
    if (isEdit) this.#lastEdit = this.#version
  }
}

type Make = () => Promise<CachedResponse>
type Read = {
  begin: Begin
  response: Promise<CachedResponse>
  next?: Promise<CachedResponse>
}

/** Merges concurrent reads of one URL into one read (single-flight), and caches its result. */
export class SharedReads {
  readonly #cache: MemoryCache
  readonly #reading = new Map<string, Read>()

  constructor(cache: MemoryCache) {
    this.#cache = cache
  }

  start(url: string, make: Make): Promise<CachedResponse> {
    const begin = this.#cache.begin()
    const response = make().then((made) => {
      this.#cache.put(url, made, begin)
      return made
    })
    const read: Read = { begin, response }
    this.#reading.set(url, read)
    const end = () => {
      if (this.#reading.get(url) === read) this.#reading.delete(url)
    }
    response.then(end, end)
    return response
  }

  /**
   * Returns the cached response or the read in flight. If that read is no longer current, all
   * waiting callers share the next one: a crowd costs one read at a time.
   */
  find(url: string, make: Make): CachedResponse | Promise<CachedResponse> | undefined {
    const cached = this.#cache.get(url)
    const read = this.#reading.get(url)
    if (cached || !read) return cached
    if (this.#cache.isCurrent(read.begin)) return read.response
    const startNext = async () => this.#cache.get(url) ?? this.start(url, make)
    read.next ??= read.response.then(startNext, startNext)
    return read.next
  }
}
