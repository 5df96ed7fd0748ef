import { type CachedResponse, sizeOf } from './cached-response.ts'
import type { Change } from './change.ts'
import { createLikeChanges } from './like-changes.ts'

/** A saved response and how many seconds ago it was still right. */
export type SavedHit = { response: CachedResponse; age: number }

/** A time in which nothing changes. What is read in it is right until it ends, by the monotonic clock (ms). */
type Span = { endedAt?: number }

/** How many changes this node knew of when a read began, additions among those of posts, and the time without any. */
export type Version = { posts: number; additions: number; likes: number; span: Span }

type Entry = {
  response: CachedResponse
  version: Version
  /** How many changes of posts were known when it was cached; losing the change feed does not count as one. */
  postChanges: number
  /** By the monotonic clock (ms): a wrong wall clock must not make responses older or younger. */
  cachedAt: number
  /** How often in a row it was made again soon after it was made, where it is refreshed at intervals. */
  refreshes: number
  /** How many evictions it survives when it is the oldest: one for each time that it was read again. */
  chances: number
}

/** Visitors are served with a saved response for this long after it was last known to be right. */
const MAX_SAVED_MS = 10 * 60_000
/** A page is made again after each of this many new posts in a row, and at intervals as long as they go on. */
const REFRESHED_AT_ONCE = 3
const MAX_BYTES = 32 * 1024 * 1024
const MAX_CHANCES = 8
/** How many entries with a chance are passed over to evict one. */
const MAX_MOVES = 8

export type MemoryCache = ReturnType<typeof createMemoryCache>

/**
 * Caches responses by URL in bounded memory. A change of posts on any node makes all of them outdated at once; a like makes those
 * outdated that show its post, for signed-in viewers. One that is refreshed at intervals is served while posts come one after another.
 * What is outdated or merely too old stays, for visitors who ask while the database is away, except for what shows a post that was
 * edited or removed. `clock` returns monotonic milliseconds.
 */
export function createMemoryCache({ maxBytes = MAX_BYTES, clock = () => performance.now() } = {}) {
  const entries = new Map<string, Entry>()
  const likeChanges = createLikeChanges()
  let posts = 0
  let additions = 0
  let span: Span = {}
  let postChanges = 0
  let bytes = 0
  let isSubscribed = false
  /** When this node last knew that it had received every change. */
  let knownAt = clock()

  function evict(url: string, { response }: Entry): void {
    entries.delete(url)
    bytes -= sizeOf(response) + 2 * url.length
  }

  function set(url: string, entry: Entry): void {
    const old = entries.get(url)
    if (old) evict(url, old)
    entries.set(url, entry)
    bytes += sizeOf(entry.response) + 2 * url.length
    while (bytes > maxBytes) makeRoom()
  }

  /** Evicts one of the oldest entries. Those that have a chance left become the newest instead, a few at a time. */
  function makeRoom(): void {
    let moved = 0
    for (const [url, entry] of entries) {
      const mayGo = entry.chances === 0 || msSinceRight(entry) > MAX_SAVED_MS
      if (mayGo || moved++ === MAX_MOVES) {
        evict(url, entry)
        return
      }
      entries.delete(url)
      entries.set(url, { ...entry, chances: entry.chances - 1 })
    }
  }

  /** Whether nothing but new posts came since a read began. */
  const lacksOnlyAdditions = (version: Version) =>
    posts - version.posts === additions - version.additions

  function isFresh({ version, cachedAt, refreshes, response }: Entry): boolean {
    const ms = clock() - cachedAt
    if (version.posts === posts) return ms <= response.maxAgeMs
    const { refreshedEveryMs = 0 } = response
    return refreshes >= REFRESHED_AT_ONCE && ms < refreshedEveryMs && lacksOnlyAdditions(version)
  }

  function msSinceRight({ version }: Entry): number {
    return clock() - (version.span.endedAt ?? knownAt)
  }

  function endSpan(): void {
    span.endedAt = clock()
    span = {}
  }

  return {
    /** The version now, for a read that is about to begin. */
    version: (): Version => ({ posts, additions, likes: likeChanges.count(), span }),

    isCurrent: (version: Version): boolean =>
      version.posts === posts && version.likes === likeChanges.count(),

    /** Returns what a visitor may be served with now. */
    getForVisitor(url: string): CachedResponse | undefined {
      const entry = entries.get(url)
      return entry && isFresh(entry) ? entry.response : undefined
    },

    /** Returns what a signed-in viewer may be served with now: it includes every like that this node knows of. */
    getForUser(url: string): CachedResponse | undefined {
      const entry = entries.get(url)
      if (!entry || !isFresh(entry)) return undefined
      const { response, version } = entry
      return likeChanges.isCurrent(version.likes, response.likes) ? response : undefined
    },

    /**
     * Returns what a visitor may be served with while the database cannot be asked: the last response, for ten minutes after
     * it was last known to be right. Unless it `mayBeOutdated`, only one since which no post has changed as far as this node
     * knows.
     */
    getSaved(url: string, mayBeOutdated: boolean): SavedHit | undefined {
      const entry = entries.get(url)
      if (!entry || (!mayBeOutdated && entry.postChanges !== postChanges)) return undefined
      const ms = msSinceRight(entry)
      if (ms <= MAX_SAVED_MS) return { response: entry.response, age: Math.floor(ms / 1000) }
      evict(url, entry)
      return undefined
    },

    /**
     * Caches the response of a read that began at `version`, unless posts have changed since or this node does not
     * receive the changes of others. One that is refreshed at intervals is cached although posts were added meanwhile. Where
     * memory is short, the oldest go, those that were read once before the others.
     */
    put(url: string, response: CachedResponse, version: Version): void {
      const { refreshedEveryMs } = response
      const changes = posts - version.posts
      const isUsable = changes === 0 || (refreshedEveryMs && lacksOnlyAdditions(version))
      if (!isUsable || !isSubscribed) return
      const old = entries.get(url)
      const chances = old ? Math.min(old.chances + 1, MAX_CHANCES) : 0
      const cachedAt = clock()
      const isSoon = old && refreshedEveryMs && cachedAt - old.cachedAt < 2 * refreshedEveryMs
      const refreshes = isSoon ? old.refreshes + 1 : 0
      const atRead = { version, postChanges: postChanges - changes }
      set(url, { response, ...atRead, cachedAt, refreshes, chances })
    },

    /** Puts a response in place of an equal one that is only saved; does nothing where that is gone. */
    replaceSaved(url: string, old: CachedResponse, response: CachedResponse): void {
      const entry = entries.get(url)
      if (entry?.response === old && !isFresh(entry)) set(url, { ...entry, response })
    },

    /** Invalidates the responses that a committed change made wrong. */
    invalidate(change: Change): void {
      endSpan()
      const [kind, how, id] = change.split(' ')
      if (kind === 'likes') {
        likeChanges.note(how)
        return
      }
      posts++
      postChanges++
      if (how === 'added') {
        additions++
        return
      }
      for (const [url, entry] of entries) {
        const { postIds } = entry.response
        if (!id || !postIds || postIds.includes(id)) evict(url, entry)
      }
    },

    /** Notes that this node had received every change of others at a moment, by the monotonic clock (ms). */
    confirm(at: number): void {
      knownAt = Math.max(knownAt, at)
    },

    /** Sets whether this node receives the changes of others: nothing is cached while it does not. */
    setSubscribed(value: boolean): void {
      isSubscribed = value
      posts++
      if (!value) return
      // Some changes may have been missed. During an outage perhaps nothing has changed, so that what is saved stays.
      postChanges++
      entries.clear()
      bytes = 0
      knownAt = clock()
    },
  }
}
