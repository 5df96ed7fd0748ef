import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/database.ts'
import type { Replica } from '../db/replica.ts'
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
  /** The standbys that visitors' reads use; undefined where there are none. */
  replica: Replica | undefined
  log: FastifyBaseLogger
}

export type ResponseCache = ReturnType<typeof createResponseCache>

/** The cache of public reads of one node, which is invalidated by changes on every node. */
export function createResponseCache(options: Options) {
  const { db, databaseUrl, isShared, replica, outage, log } = options
  const cache = createMemoryCache()

  function invalidate(change: Change): void {
    replica?.noteChange()
    cache.invalidate(change)
  }

  const feed = openChangeFeed(db, {
    url: databaseUrl,
    isShared,
    onChange: invalidate,
    onSubscribed(isSubscribed) {
      replica?.noteChange()
      cache.setSubscribed(isSubscribed)
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
     * answered: after it, this node serves nothing from before, but for a page that may lack a post for a tenth of a second;
     * the others do only until they hear of it. Never rejects.
     */
    async publishChange(change: Change): Promise<void> {
      invalidate(change)
      try {
        await feed.publish(change)
      } catch (err) {
        // The change stands even where the others do not receive it; what they have cached is served for a second at most.
        const isLost = outage.noteFailure(err as Error)
        if (!isLost) log.warn({ err }, 'a change was not published to the other nodes')
      }
    },

    close: feed.close,
  }
}
