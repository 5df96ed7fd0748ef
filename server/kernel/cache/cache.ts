import { LRUCache } from 'lru-cache'
import { type CachedResponse, sizeOf } from './cached-response.ts'
import type { PostsState } from './posts-state.ts'

/** A response that is no longer current, and how many seconds ago it was read. */
export type Stale = { response: CachedResponse; age: number }

/**
 * Counts the changes that a node knew of, and those among them that edited or removed posts. All
 * its responses show the same state, of which a change leaves unknown what it has changed.
 */
export type Generation = { changes: number; edits: number; state: Partial<PostsState> }

type Entry = Generation & {
  response: CachedResponse
  /** By the monotonic clock: a wrong wall clock makes no response older or younger. */
  cachedAt: number
}

const MAX_AGE_MS = 1000
/** So long a page is served without the newest posts: rendering each would take most of a core. */
const PAGE_MS = 100
const MAX_STALE_MS = 10 * 60_000
const MAX_BYTES = 32 * 1024 * 1024

export type MemoryCache = ReturnType<typeof createMemoryCache>

/**
 * Caches responses by URL in bounded memory: for a second while their generation is current, then
 * for ten minutes as stale ones, unless a post that they show was edited or removed.
 */
export function createMemoryCache({ maxBytes = MAX_BYTES, clock = () => performance.now() } = {}) {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ response }, url) => sizeOf(response) + 2 * url.length,
  })
  let changes = 0
  let edits = 0
  let state: Partial<PostsState> = {}
  let isSubscribed = false

  function begin(isEdit: boolean): void {
    changes++
    if (isEdit) edits++
    const { posts_added, ...rest } = state
    state = isEdit ? {} : rest
  }

  function knowsState(): boolean {
    return state.posts_added !== undefined && state.posts_changed !== undefined
  }

  /** Whether a state differs from the generation's in what is known of that. */
  function differs(seen: PostsState, column: keyof PostsState): boolean {
    return state[column] !== undefined && state[column] !== seen[column]
  }

  return {
    generation: (): Generation => ({ changes, edits, state }),

    /** Whether an answer of a read that began then cannot be older than one that was given since. */
    isCurrent: (generation: Generation): boolean =>
      generation.changes === changes && generation.state === state,

    get(url: string): CachedResponse | undefined {
      const entry = entries.get(url)
      if (!entry) return undefined
      const ms = clock() - entry.cachedAt
      if (entry.changes === changes) return ms <= MAX_AGE_MS ? entry.response : undefined
      const lacksOnlyPosts = entry.response.isPage && entry.edits === edits
      return lacksOnlyPosts && ms < PAGE_MS ? entry.response : undefined
    },

    /** Returns the response for visitors while the database fails. */
    getStale(url: string): Stale | undefined {
      const entry = entries.get(url)
      const ms = entry ? clock() - entry.cachedAt : 0
      if (!entry || ms > MAX_STALE_MS) return undefined
      const { response } = entry
      return { response: response.toStale?.() ?? response, age: Math.floor(ms / 1000) }
    },

    /** Not cached if posts were edited or removed since, or changes of others are not received. */
    put(url: string, response: CachedResponse, generation: Generation): void {
      if (!isSubscribed || generation.edits !== edits) return
      entries.set(url, { ...generation, response, cachedAt: clock() })
    },

    /** Begins a generation, and forgets the responses that show an edited or removed post. */
    invalidate(change: Change): void {
      const isEdit = !change.startsWith('posts added')
      begin(isEdit)
      if (!isEdit) return
      const id = change.split(' ')[2]
      for (const [url, { response }] of [...entries.entries()]) {
        if (!id || !response.postIds || response.postIds.includes(id)) entries.delete(url)
      }
    },

    /**
     * Records the state of posts that an answer shows, before it is served; its read began in
     * `generation`. Where posts have changed without this node being told, a generation begins. What
     * is cached stays as stale, until the change says which posts it is of.
     */
    noteState(seen: PostsState, generation: Generation): void {
      const isEdited = differs(seen, 'posts_changed')
      if (isEdited || differs(seen, 'posts_added')) begin(isEdited)
      else if (!knowsState() && generation.changes === changes) state = seen
    },

    /** Whether a read has shown the state of the generation. */
    knowsState,

    /** Whether a state is that of all responses of the generation. */
    hasShown: (seen: PostsState): boolean =>
      knowsState() && !differs(seen, 'posts_added') && !differs(seen, 'posts_changed'),

    /** Nothing is cached while this node does not receive the changes of others. */
    setSubscribed(value: boolean): void {
      isSubscribed = value
      begin(true)
      // Changes may have been missed. What was cached has stayed until now, for an outage.
      if (value) entries.clear()
    },
  }
}

type Make = () => Promise<CachedResponse>
type Read = {
  generation: Generation
  response: Promise<CachedResponse>
  next?: Promise<CachedResponse>
}

/** Makes reads of one URL at the same time one read (single-flight), and caches their result. */
export function createSharedReads(cache: MemoryCache) {
  const reading = new Map<string, Read>()

  function start(url: string, make: Make): Promise<CachedResponse> {
    const generation = cache.generation()
    const response = make().then((made) => {
      cache.put(url, made, generation)
      return made
    })
    const read: Read = { generation, response }
    reading.set(url, read)
    const end = () => {
      if (reading.get(url) === read) reading.delete(url)
    }
    response.then(end, end)
    return response
  }

  /**
   * Returns the cached response or the read under way. If posts have changed since that began, all
   * who wait share the next read: a crowd costs one read at a time.
   */
  function find(url: string, make: Make): CachedResponse | Promise<CachedResponse> | undefined {
    const cached = cache.get(url)
    const read = reading.get(url)
    if (cached || !read) return cached
    if (cache.isCurrent(read.generation)) return read.response
    const startNext = async () => cache.get(url) ?? start(url, make)
    read.next ??= read.response.then(startNext, startNext)
    return read.next
  }

  return { start, find }
}

/** Posts were added, one was edited or removed, or any changed in any way. Likes are no change. */
export type Change = 'posts' | `posts added${string}` | `posts changed ${string}`
