import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../db/database.ts'
import { createKeptAnswers } from './cache.ts'
import { noNotices, openNotices } from './change-feed.ts'

type Options = {
  db: Db
  /** Of a database that other nodes may share; undefined for the embedded one, which serves one node. */
  sharedUrl: string | undefined
  log: FastifyBaseLogger
}

/** The answers a node keeps, and what keeps them true: word of changes, to the other nodes and from them. */
export function openFreshness({ db, sharedUrl, log }: Options) {
  const kept = createKeptAnswers()
  const listener = {
    onChange: { posts: kept.postsChanged, likes: kept.likesChanged },
    onHearing: kept.setHearing,
  }
  const notices = sharedUrl ? openNotices(db, sharedUrl, listener) : noNotices(listener)
  return {
    kept,
    catchUp: notices.catchUp,
    close: notices.close,

    /** After a change was committed: nothing from before it is given out any more. */
    async changed(what: 'posts' | 'likes'): Promise<void> {
      listener.onChange[what]()
      // The change stands whether or not the others hear of it; their copies live a second.
      await notices
        .tell(what)
        .catch((error) => log.warn({ err: error }, 'other nodes were not told'))
    },
  }
}
