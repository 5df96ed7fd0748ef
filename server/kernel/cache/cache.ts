import { LRUCache } from 'lru-cache'
import type { CachedResponse } from './cached-response.ts'
import type { Change } from './change-feed.ts'

/** A response that is no longer current. `age` is the seconds since its read began. */
export type Stale = { response: CachedResponse; age: number }

type Begin = { version: number; at: number }
type Entry = Begin & { cachedAt: number; response: CachedResponse }
type Flight = Begin & { response: Promise<CachedResponse> }
type Make = () => Promise<CachedResponse>

const MAX_AGE_MS = 1000
/** How long a cached page may lack newer posts; see `npm run bench -- --beside-writes`. */
const PAGE_MS = 100
const MAX_STALE_MS = 10 * 60_000
const MAX_BYTES = 32 * 1024 * 1024

/** Caches responses by URL: for a second as current, then for ten minutes as stale. */
export class MemoryCache {
  readonly #entries: LRUCache<string, Entry>
  /** The newest read in flight of each URL. */
  readonly #flights = new Map<string, Flight>()
  readonly #clock: () => number
  #version = 0
  #lastEdit = 0
  #isSubscribed = false

  constructor({ maxBytes = MAX_BYTES, clock = () => performance.now() } = {}) {
    this.#clock = clock
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ response }, url) => response.size + 2 * url.length,
    })
  }

  get(url: string): CachedResponse | undefined {
    const entry = this.#entries.get(url)
    if (!entry) return undefined
    const isFreshPage = entry.response.content.isPage && this.#clock() - entry.cachedAt < PAGE_MS
    return this.#isCurrent(entry) || isFreshPage ? entry.response : undefined
  }

  getStale(url: string): Stale | undefined {
    const entry = this.#entries.get(url)
    const ms = entry ? this.#clock() - entry.at : 0
    if (!entry || ms > MAX_STALE_MS) return undefined
    return { response: entry.response.toStale(), age: Math.floor(ms / 1000) }
  }

  /** Resolves to the cached response, to that of a current read in flight, or of a new read. */
  async read(url: string, make: Make): Promise<CachedResponse> {
    const cached = this.get(url)
    if (cached) return cached
    const flight = this.#flights.get(url)
    // Two reads of a URL are in flight at once if posts changed after the first began.
    return flight && this.#isCurrent(flight) ? flight.response : this.#startRead(url, make)
  }

  /** Makes all responses stale, and deletes those that show an edited or removed post. */
  invalidate(change: Change): void {
    this.#raise(change.kind !== 'added')
    if (change.kind === 'added') return
    const { postId } = change
    for (const [url, { response }] of [...this.#entries.entries()]) {
      const { postIds } = response.content
      if (!postId || !postIds || postIds.includes(postId)) this.#entries.delete(url)
    }
  }

  /** Sets whether this node receives changes of other nodes; until it does, nothing is cached. */
  setSubscribed(value: boolean): void {
    this.#isSubscribed = value
    this.#raise(true)
    // Changes may have been missed. The entries were kept only for stale responses in an outage.
    if (value) this.#entries.clear()
  }

  #startRead(url: string, make: Make): Promise<CachedResponse> {
    const begin = { version: this.#version, at: this.#clock() }
    const response = make().then((made) => {
      this.#put(url, made, begin)
      return made
    })
    const flight = { ...begin, response }
    this.#flights.set(url, flight)
    const land = () => {
      if (this.#flights.get(url) === flight) this.#flights.delete(url)
    }
    response.then(land, land)
    return response
  }

  /** Caches nothing if a post was edited or removed since `begin`, or while not subscribed. */
  #put(url: string, response: CachedResponse, begin: Begin): void {
    if (!this.#isSubscribed || begin.version < this.#lastEdit) return
    const cached = this.#entries.peek(url)
    if (cached && cached.version > begin.version) return
    this.#entries.set(url, { ...begin, cachedAt: this.#clock(), response })
  }

  #isCurrent(begin: Begin): boolean {
    return begin.version === this.#version && this.#clock() - begin.at <= MAX_AGE_MS
  }

  #raise(isEdit: boolean): void {
    this.#version++
    if (isEdit) this.#lastEdit = this.#version
  }
}
