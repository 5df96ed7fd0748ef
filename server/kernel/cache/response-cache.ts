import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/database.ts'
import type { Replica, RunRead } from '../db/replica.ts'
import type { Change } from './cache.ts'
import { createMemoryCache } from './cache.ts'
import { type CachedReadsOptions, createCachedReads } from './cached-reads.ts'
import { openChangeFeed } from './change-feed.ts'
import { createFastPath, type FastPathOptions } from './fast-path.ts'
import { type PostsState, tellingState } from './posts-state.ts'

type Options = CachedReadsOptions & {
  db: Db
  databaseUrl: string
  /** Whether other nodes may use the database; the embedded one serves one node. */
  isShared: boolean
  replica: Replica | undefined
  /** Called with each change, of this node and of others. */
  onChange: (change: Change) => void
  log: FastifyBaseLogger
}

export type ResponseCache = ReturnType<typeof createResponseCache>

/** The cache of public reads of one node, which changes on every node invalidate. */
export function createResponseCache(options: Options) {
  const { db, databaseUrl, isShared, replica, outage, log } = options
  const cache = createMemoryCache()

  function invalidate(change: Change): void {
    cache.invalidate(change)
    options.onChange(change)
  }

  const feed = openChangeFeed(db, {
    url: databaseUrl,
    isShared,
    onChange: invalidate,
    onSubscribed: cache.setSubscribed,
    outage,
  })
  const reads = createCachedReads(cache, options)

  /** Before a read settles, the cache knows which commits it has shown. */
  const runRead: RunRead = async (viewer, read) => {
    const shown = viewer ? undefined : await readFromStandby(read)
    if (shown) return shown.result
    const generation = cache.generation()
    return read(tellingState(db, (state) => cache.noteState(state, generation)))
  }

  /** Resolves to undefined unless a standby shows just what this node has shown. */
  async function readFromStandby<T>(
    read: (from: Db) => Promise<T>,
  ): Promise<{ result: T } | undefined> {
    if (!replica || !cache.knowsState()) return undefined
    let seen: PostsState | undefined
    const noteState = (state: PostsState) => (seen = state)
    const isShown = () => seen !== undefined && cache.hasShown(seen)
    try {
      const done = await replica.tryRead((standby) => read(tellingState(standby, noteState)))
      if (isShown()) return done
    } catch (error) {
      if (isShown()) throw error
    }
    if (seen) replica.rest()
    return undefined
  }

  return {
    ...reads,
    runRead,

    fastPath: (fastPathOptions: FastPathOptions) =>
      createFastPath(cache, { ...fastPathOptions, reads, outage }),

    /**
     * Call it after the commit, and await it before the change is answered: then this node serves
     * nothing older, but for a page that lacks a post for a tenth of a second. Never rejects.
     */
    async publishChange(change: Change): Promise<void> {
      invalidate(change)
      try {
        await feed.publish(change)
      } catch (err) {
        // The change stands even if others miss it: they serve older responses for a second.
        const isLost = outage.noteFailure(err as Error)
        if (!isLost) log.warn({ err }, 'a change was not published to the other nodes')
      }
    },

    close: feed.close,
  }
}
