/** An answer to a read that all viewers share but for their own likes. */
export type KeptAnswer = {
  route: string
  /** The JSON as a visitor sees it, who likes nothing. */
  body: Buffer
  etag: string
  /** The JSON cut where each post's `is_liked` stands, and the posts of these places. */
  pieces: string[]
  postIds: string[]
  /** The head of a visitor's whole answer, once there was one. */
  headers: Record<string, number | string | string[]> | null
}

/** Whether a client says that it has the answer with this ETag; a proxy that compresses marks it as a weak one. */
export function isKnown(
  { etag }: Pick<KeptAnswer, 'etag'>,
  ifNoneMatch: string | undefined,
): boolean {
  return ifNoneMatch?.includes(etag) ?? false
}

/** The state of posts, and of likes, that a read has seen. */
export type Stamp = { posts: number; likes: number }
type Entry = {
  answer: KeptAnswer
  stamp: Stamp
  /** How many changes of posts were known when it was kept. */
  changes: number
  /** By the monotonic clock (ms): a wrong wall clock must not make answers older or younger. */
  keptAt: number
}

/** Likes of others may lag a visitor by this much. */
const MAX_AGE_MS = 1000
/** While the database is away visitors are answered with what is not older than this. */
const MAX_OUTAGE_MS = 10 * 60_000
const MAX_BYTES = 32 * 1024 * 1024

export type KeptAnswers = ReturnType<typeof createKeptAnswers>

/**
 * Answers to shared reads by URL, in bounded memory. Each lives a second at most; a publication, edit or deletion on any
 * node makes all of them stale at once, a like those that signed-in viewers would get. Those that time alone made stale
 * stay, for visitors who ask while the database is away. `clock`: monotonic milliseconds.
 */
export function createKeptAnswers({
  maxAgeMs = MAX_AGE_MS,
  maxBytes = MAX_BYTES,
  clock = () => performance.now(),
} = {}) {
  const entries = new Map<string, Entry>()
  const now: Stamp = { posts: 0, likes: 0 }
  let changes = 0
  let bytes = 0
  let hearsOthers = false

  function drop(url: string, { answer }: Entry): void {
    entries.delete(url)
    bytes -= sizeOf(url, answer)
  }

  function live(url: string): Entry | undefined {
    const entry = entries.get(url)
    if (!entry) return undefined
    const age = clock() - entry.keptAt
    if (entry.changes !== changes || age > MAX_OUTAGE_MS) drop(url, entry)
    return entry.stamp.posts === now.posts && age <= maxAgeMs ? entry : undefined
  }

  return {
    /** The state now, for a read that is about to begin. */
    stamp: (): Stamp => ({ ...now }),

    isCurrent: ({ posts, likes }: Stamp): boolean => posts === now.posts && likes === now.likes,

    /** What a visitor may be answered with now. */
    forVisitor: (url: string): KeptAnswer | undefined => live(url)?.answer,

    /** What a signed-in viewer may be answered with now: no like of anybody is missing in it. */
    forUser(url: string): KeptAnswer | undefined {
      const entry = live(url)
      return entry?.stamp.likes === now.likes ? entry.answer : undefined
    },

    /**
     * What a visitor may be answered with while the database is away, and its age in seconds: the last read of ten minutes
     * that no change of posts came after, as far as this node has heard.
     */
    duringOutage(url: string): { answer: KeptAnswer; age: number } | undefined {
      live(url)
      const entry = entries.get(url)
      return entry && { answer: entry.answer, age: Math.floor((clock() - entry.keptAt) / 1000) }
    },

    /**
     * Keeps what a read that began at `stamp` gave, and drops what is too old, or the oldest to make room; not while
     * other nodes are not heard.
     */
    keep(url: string, answer: KeptAnswer, stamp: Stamp): void {
      if (stamp.posts !== now.posts || !hearsOthers) return
      const old = entries.get(url)
      if (old) drop(url, old)
      entries.set(url, { answer, stamp, changes, keptAt: clock() })
      bytes += sizeOf(url, answer)
      for (const [oldest, entry] of entries) {
        if (bytes <= maxBytes && clock() - entry.keptAt <= MAX_OUTAGE_MS) break
        drop(oldest, entry)
      }
    },

    /** A post was published, edited or deleted. */
    postsChanged(): void {
      now.posts++
      changes++
    },

    likesChanged(): void {
      now.likes++
    },

    /** Whether changes on other nodes are heard of: nothing is kept while they are not. */
    setHearing(hears: boolean): void {
      hearsOthers = hears
      now.posts++
      // Nothing may have changed while the database was away; once it is back, that is no longer sure.
      if (hears) changes++
    },
  }
}

/** Bytes an answer takes: its body, the same again in pieces of two bytes a character at most, its URL, and some for the rest. */
function sizeOf(url: string, { body }: KeptAnswer): number {
  return body.length * 3 + url.length * 2 + 1024
}
