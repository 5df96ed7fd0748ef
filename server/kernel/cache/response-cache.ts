import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/database.ts'
import { createMemoryCache } from './cache.ts'
import { type CachedReadsOptions, createCachedReads } from './cached-reads.ts'
import type { Change, PublishChange } from './change.ts'
import { openChangeFeed } from './change-feed.ts'
import { createFastPath, type FastPathOptions } from './fast-path.ts'

type Options = CachedReadsOptions & {
  db: Db
  databaseUrl: string
  /** Whether other nodes may use the database; the embedded one serves one node. */
  isShared: boolean
  /** Called with each change, of this node and of others. */
  onChange: (change: Change) => void
  log: FastifyBaseLogger
}

export type ResponseCache = ReturnType<typeof createResponseCache>

/** The cache of public reads of one node, which changes on every node invalidate. */
export function createResponseCache(options: Options) {
  const { db, databaseUrl, isShared, outage, log } = options
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

  /** After it, this node serves nothing older, but for a page that lacks a post for 100 ms. */
  const publishChange: PublishChange = async (change) => {
    invalidate(change)
    try {
      await feed.publish(change)
    } catch (err) {
      // The change stands even if others miss it: they serve older responses for a second.
      const isLost = outage.noteFailure(err as Error)
      if (!isLost) log.warn({ err }, 'a change was not published to the other nodes')
    }
  }

  return {
    ...reads,
    publishChange,

    fastPath: (fastPathOptions: FastPathOptions) =>
      createFastPath(cache, { ...fastPathOptions, reads, outage }),

    close: feed.close,
  }
}
