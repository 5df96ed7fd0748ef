import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/database.ts'
import type { Replica, RunRead } from '../db/replica.ts'
import { createMemoryCache } from './cache.ts'
import { type CachedReadsOptions, createCachedReads } from './cached-reads.ts'
import type { Change } from './change.ts'
import { openChangeFeed } from './change-feed.ts'
import { createFastPath, type FastPathOptions } from './fast-path.ts'

type Options = CachedReadsOptions & {
  db: Db
  databaseUrl: string
  /** Whether other nodes may use the database; the embedded one serves one node. */
  isShared: boolean
  /** Whether requests reach the database by another way than the change feed, so that one says nothing about the other. */
  isBehindPooler: boolean
  /** The standbys that reads use; undefined where there are none. */
  replica: Replica | undefined
  log: FastifyBaseLogger
}

export type ResponseCache = ReturnType<typeof createResponseCache>
/** What reads as any visitor sees it take: the way to a database, and the cache that they share with the API. */
export type VisitorReads = { runRead: RunRead } & Pick<ResponseCache, 'readAsVisitor'>

/** The cache of public reads of one node, which is invalidated by changes on every node. */
export function createResponseCache(options: Options) {
  const { db, databaseUrl, isShared, isBehindPooler, replica, outage, log } = options
  const cache = createMemoryCache()
  const feed = openChangeFeed(db, {
    url: databaseUrl,
    isShared,
    hasReplica: replica !== undefined,
    // First the standbys: what is read from now on under the new version shows the change.
    onChange(change, position) {
      replica?.require(position)
      cache.invalidate(change)
    },
    onSubscribed(isSubscribed) {
      replica?.setSubscribed(isSubscribed)
      cache.setSubscribed(isSubscribed)
    },
    onConfirmed(at) {
      cache.confirm(at)
      if (!isBehindPooler) outage.noteAnswer(at)
    },
    outage,
  })
  return {
    ...createCachedReads(cache, options),

    /** Makes the ways to answer a visitor's read before any route. */
    fastPath: (fastPathOptions: Omit<FastPathOptions, 'outage'>) =>
      createFastPath(cache, { ...fastPathOptions, outage }),

    /**
     * Invalidates what a committed change made wrong, here and on the other nodes. To be awaited before the change is
     * answered: after it, no node serves the state from before, except that a page may lack the newest of many new posts
     * for a tenth of a second. Never rejects.
     */
    async publishChange(change: Change): Promise<void> {
      cache.invalidate(change)
      // The change stands even where the others do not receive it; what they have cached is served for a second at most.
      const position = await feed.publish(change).catch((err) => {
        if (!outage.noteFailure(err))
          log.warn({ err }, 'a change was not published to the other nodes')
        return undefined
      })
      if (!replica) return
      // What was read meanwhile, perhaps from a standby without the change, is not to be served from now on.
      replica.require(position)
      cache.invalidate(change)
    },

    awaitChanges: feed.awaitChanges,
    close: feed.close,
  }
}
