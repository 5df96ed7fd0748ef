/** The version of a post that was deleted. It is 1 as published, and one more with each edit. */
export const GONE = Number.POSITIVE_INFINITY

type Moment = {
  client: string
  node: number
  /** Milliseconds of one monotonic clock for all clients. */
  began: number
  /** Infinity if the client was never answered. */
  ended: number
}

/** Only one client writes a post, and waits for each answer. Its tries of one write are one. */
export type Write = Moment & { post: number; wrote: number }

export type Read = Moment & {
  /** The versions that were shown, by post; 0 if the answer was that there is none. */
  saw: Map<number, number>
  /** A list shows each post from this id on, of one client if it is a list of theirs. */
  list?: { from: number; by?: string }
  /** The answer said that it is from before an outage. */
  isStale: boolean
}

/** What all clients did, each one thing after the other. */
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

/** Everybody sees a change, and what they have seen of it stays, after this time. */
const FRESH_MS = 1000

/**
 * Returns every read that shows less than was promised: on any node one's own writes, what was
 * acknowledged a second ago, and what the client saw a second ago; in one answer, beside a write,
 * everything that was acknowledged before the write was asked for. An answer that says it is stale
 * has to keep the last promise only.
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
      // A post that is missing need not be gone if it need not show yet.
      const isSeen = read.saw.get(post) || promises.some(([, expected]) => expected > 0)
      if (version > 0 && isSeen && isNew) sightings.set(key, [...seen, { ...read, version }])
    }
  }
  return violations
}

function isWrite(operation: Write | Read): operation is Write {
  return 'wrote' in operation
}

/** Returns when the last of the shown versions was asked for. */
function latestBegin({ saw }: Read, writes: Map<number, Write[]>): number {
  const begins = [...saw].map(
    ([post, version]) => writes.get(post)?.find(({ wrote }) => wrote === version)?.began ?? 0,
  )
  return Math.max(0, ...begins)
}

/** Returns the posts about which an answer says something, also that they are not there. */
function postsIn({ saw, list }: Read, posts: number[], writes: Map<number, Write[]>): number[] {
  if (!list) return [...saw.keys()]
  const isListed = (post: number) =>
    list.by === undefined || writes.get(post)?.[0]?.client === list.by
  return posts.filter((post) => post >= list.from && isListed(post))
}

/** A post that is not there may be gone if its deletion had been asked for. */
function versionIn({ saw, ended }: Read, post: number, written: Write[]): number {
  const isGone = written.some(({ wrote, began }) => wrote === GONE && began < ended)
  return saw.get(post) || (isGone ? GONE : 0)
}

type Sighting = Read & { version: number }
type Known = { written: Write[]; seen: Sighting[]; latest: number; freshMs: number }

/** Returns which version of a post each promise demands of a read. */
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
