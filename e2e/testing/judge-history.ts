/** The version of a deleted post. A published post has version 1, and each edit adds 1. */
export const GONE = Number.POSITIVE_INFINITY

type Moment = {
  client: string
  node: number
  /** Milliseconds of a monotonic clock that all clients share. */
  began: number
  /** Infinity if the client received no answer. */
  ended: number
}

/** Only one client writes a post, and waits for each answer. All tries of a write are one Write. */
export type Write = Moment & { post: number; wrote: number }

export type Read = Moment & {
  /** The versions in the answer, by post; 0 if the post did not exist. */
  saw: Map<number, number>
  /** A list shows all posts from this id on, only those of the client `by` if set. */
  list?: { from: number; by?: string }
  /** Whether the answer was marked as stale, from before an outage. */
  isStale: boolean
}

/** The operations of all clients. Each client does one operation at a time. */
export type History = (Write | Read)[]

const PROMISES = {
  ownWrites: 'read-your-writes',
  monotonic: 'monotonic reads',
  acknowledged: 'no acknowledged write lost',
  order: 'who sees the later sees the earlier',
}

export type Violation = {
  promise: (typeof PROMISES)[keyof typeof PROMISES]
  read: Read
  post: number
  saw: number
  /** The oldest version that would have kept the promise. */
  expected: number
}

/** After this time, all clients see a change, and no client sees an older version again. */
const FRESH_MS = 1000

/**
 * Returns the reads that break a promise. On any node a client sees its own writes, every write
 * acknowledged a second ago, and what it saw a second ago. An answer that contains a write contains
 * all writes acknowledged before that write was requested; only this promise holds for an answer
 * that is marked as stale.
 */
export function judge(history: History, freshMs = FRESH_MS): Violation[] {
  const writes = Map.groupBy(history.filter(isWrite), ({ post }) => post)
  const posts = [...writes.keys()].sort((one, other) => one - other)
  const sightings = new Map<string, Sighting[]>()
  const violations: Violation[] = []
  const reads = history.filter((operation): operation is Read => !isWrite(operation))

  for (const read of reads.sort((one, other) => one.began - other.began)) {
    const latest = latestBegin(read, writes)
    for (const post of postsIn(read, posts, writes)) {
      const key = `${read.client} ${post}`
      const seen = sightings.get(key) ?? []
      const written = writes.get(post) ?? []
      const version = versionIn(read, post, written)
      const promises = promisesOf(read, { written, seen, latest, freshMs })
      for (const [promise, expected] of promises) {
        if (version < expected) violations.push({ promise, read, post, saw: version, expected })
      }
      const isNew = seen.every((one) => one.version < version)
      // A missing post does not count as deleted if it need not show yet.
      const isSeen = read.saw.get(post) || promises.some(([, expected]) => expected > 0)
      if (version > 0 && isSeen && isNew) sightings.set(key, [...seen, { ...read, version }])
    }
  }
  return violations
}

function isWrite(operation: Write | Read): operation is Write {
  return 'wrote' in operation
}

/** Returns when the latest of the shown versions was requested. */
function latestBegin({ saw }: Read, writes: Map<number, Write[]>): number {
  const begins = [...saw].map(
    ([post, version]) => writes.get(post)?.find(({ wrote }) => wrote === version)?.began ?? 0,
  )
  return Math.max(0, ...begins)
}

/** Returns the posts that an answer contains or shows to be missing. */
function postsIn({ saw, list }: Read, posts: number[], writes: Map<number, Write[]>): number[] {
  if (!list) return [...saw.keys()]
  const isListed = (post: number) =>
    list.by === undefined || writes.get(post)?.[0]?.client === list.by
  return posts.filter((post) => post >= list.from && isListed(post))
}

/** A missing post counts as deleted if its deletion had been requested. */
function versionIn({ saw, ended }: Read, post: number, written: Write[]): number {
  const isGone = written.some(({ wrote, began }) => wrote === GONE && began < ended)
  return saw.get(post) || (isGone ? GONE : 0)
}

type Sighting = Read & { version: number }
type Known = { written: Write[]; seen: Sighting[]; latest: number; freshMs: number }

/** Returns the version of a post that each promise requires of a read. */
function promisesOf(read: Read, { written, seen, latest, freshMs }: Known) {
  const { client, began, isStale } = read
  const newest = (found: Write[]) => Math.max(0, ...found.map(({ wrote }) => wrote))
  const own = written.filter((write) => write.client === client && write.ended <= began)
  const stayed = written.filter(({ ended }) => ended <= began - freshMs)
  const before = seen.filter(({ ended }) => ended <= began - freshMs)
  const earlier = written.filter(({ ended }) => ended < latest)
  const order: [Violation['promise'], number] = [PROMISES.order, newest(earlier)]
  if (isStale) return [order]
  return [
    [PROMISES.ownWrites, newest(own)],
    [PROMISES.monotonic, Math.max(0, ...before.map(({ version }) => version))],
    [PROMISES.acknowledged, newest(stayed)],
    order,
  ] satisfies [Violation['promise'], number][]
}
