import type { FastifyInstance } from 'fastify'
import { readIdRanges, readIdsInRange } from './features/posts/id-ranges.ts'
import { readPostForPage, readWallForPage } from './features/posts/posts.routes.ts'
import { readRepliesForPage } from './features/replies/replies.routes.ts'
import { createSiteStateReader } from './features/site-state/site-state.service.ts'
import type { ReadText } from './features/texts/texts.service.ts'
import type { ResponseCache } from './kernel/cache/response-cache.ts'
import { type Config, originOf } from './kernel/config/config.ts'
import type { Db } from './kernel/db/database.ts'
import type { Outage } from './kernel/db/outage.ts'
import type { RunRead } from './kernel/db/replica.ts'
import type { Limits } from './kernel/limits/rate-limits.ts'
import { serveFeeds } from './kernel/pages/feeds.ts'
import type { PageReads } from './kernel/pages/rendered-pages.ts'
import { servePages } from './kernel/pages/serve-pages.ts'
import { serveSitemap } from './kernel/pages/sitemap.ts'
import type { WebApp } from './kernel/pages/web-app.ts'

type Options = {
  config: Config
  db: Db
  runRead: RunRead
  limits: Limits
  cookieName: string
  /** The built web app; null where there is none. */
  web: WebApp | null
  readText: ReadText
  cache: ResponseCache
  outage: Pick<Outage, 'noteRefused'>
  headers: Record<string, string>
}

/** Serves everything that is no call of the API: pages, files, feeds and the sitemap. */
export async function registerSite(
  http: FastifyInstance,
  { config, db, runRead, limits, cookieName, web, readText, cache, outage, headers }: Options,
): Promise<void> {
  const { appName } = config
  const origin = originOf(config)
  const reads: PageReads = {
    readWall: (query) => readWallForPage(runRead, query),
    readPost: (id) => readPostForPage(runRead, id),
    readReplies: (postId, query) => readRepliesForPage(runRead, postId, query),
    readText,
    readSiteState: createSiteStateReader(db),
  }
  const pageLimits = { limit: limits.visitorCalls, fileLimit: limits.pageFiles }
  const { noteRefused } = outage
  await servePages(http, web, { ...reads, ...pageLimits, cookieName, cache, noteRefused, headers })
  await serveFeeds(http, { ...reads, appName, origin, cache, headers, limit: limits.visitorCalls })
  await serveSitemap(http, {
    origin,
    headers,
    readRanges: (ranges) => readIdRanges(db, ranges),
    readIds: (range) => readIdsInRange(db, range),
    ...pageLimits,
  })
}
