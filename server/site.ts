import type { FastifyInstance } from 'fastify'
import { type Config, originOf } from './config.ts'
import type { Db } from './db/database.ts'
import type { Outage } from './db/outage.ts'
import type { RunRead } from './db/replica.ts'
import { serveFeeds } from './pages/feeds.ts'
import type { PageReads } from './pages/rendered-pages.ts'
import { servePages } from './pages/serve-pages.ts'
import { serveSitemap } from './pages/sitemap.ts'
import type { WebApp } from './pages/web-app.ts'
import { readIdRanges, readIdsInRange } from './posts/id-ranges.ts'
import { readPostForPage, readWallForPage } from './posts/posts.routes.ts'
import type { Limits } from './rate-limits/rate-limits.ts'
import { readRepliesForPage } from './replies/replies.routes.ts'
import type { ResponseCache } from './response-cache/response-cache.ts'
import { createSiteStateReader } from './site-state/site-state.service.ts'
import type { ReadText } from './texts/texts.service.ts'

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
