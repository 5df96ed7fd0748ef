import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { registerAccount } from './features/account/account.routes.ts'
import { registerAccountDeletion } from './features/account-deletion/account-deletion.routes.ts'
import { registerAnswers } from './features/answers/answers.routes.ts'
import { registerCodes } from './features/codes/codes.routes.ts'
import { registerDataExport } from './features/data-export/data-export.routes.ts'
import { registerLikes } from './features/likes/likes.routes.ts'
import { registerModeration } from './features/moderation/moderation.routes.ts'
import { registerMutes } from './features/mutes/mutes.routes.ts'
import { registerPosts } from './features/posts/posts.routes.ts'
import { createPublish } from './features/posts/publications.service.ts'
import { registerReplies } from './features/replies/replies.routes.ts'
import { registerReports } from './features/reports/reports.routes.ts'
import { registerSearch } from './features/search/search.service.ts'
import { registerSessions } from './features/sessions/sessions.routes.ts'
import { registerSignIn } from './features/sign-in/sign-in.routes.ts'
import { registerSiteState } from './features/site-state/site-state.service.ts'
import { registerTexts } from './features/texts/texts.service.ts'
import { jobsOf } from './jobs.ts'
import { originOf } from './kernel/config/config.ts'
import { watchClock } from './kernel/db/clock.ts'
import type { OpenDatabase } from './kernel/db/database.ts'
import { quietDuringOutages, withDeadline } from './kernel/db/outage.ts'
import type { Feature } from './kernel/feature.ts'
import { serveHealth } from './kernel/http/health.ts'
import type { ListenAddress } from './kernel/http/listen.ts'
import { shortenPause } from './kernel/mail/outbox.repository.ts'
import { startJobs } from './kernel/queue/queue.ts'
import { type AppOptions, type OpenNode, openNode } from './node.ts'
import { watchHealth } from './operations/doctor/doctor.service.ts'
import { registerIdentity } from './operations/doctor/identity.ts'
import { servePages } from './pages/serve-pages.ts'

export type App = {
  http: FastifyInstance
  /** Resolves to the URL once it answers there; rejects with the system's error. */
  listen(address: ListenAddress): Promise<string>
  database: OpenDatabase
  drain(): void
  /**
   * Lets requests in flight and running jobs finish, then closes the connections to the database.
   * HTTP connections that were used within `graceMs` may send one more request.
   */
  close(graceMs?: number): Promise<void>
}

const CLOSE_MS = 500

/** Builds the product on a migrated database: routes, pages and jobs. */
export async function createApp(options: AppOptions): Promise<App> {
  const opened = await openNode(options)
  const { node, database, backgroundPool, outage, live, server } = opened
  const { log } = node
  const features = await registerAll(opened, options.lockWaitMs)
  let isDraining = false
  serveHealth(node.http, {
    db: node.db,
    databaseFolder: node.config.databaseUrl === undefined ? node.config.dataDir : undefined,
    isDraining: () => isDraining,
  })
  const unwatch = await watch(opened)
  const jobs = await startJobs(backgroundPool.pool, {
    jobs: jobsOf(opened, features),
    log: quietDuringOutages(log, outage),
  })
  void shortenPause(node.background).catch((err) => log.warn({ err }, 'mails stay paused'))
  return {
    http: node.http,
    listen: (address) => server.listen(address),
    database,
    drain() {
      isDraining = true
      live.close()
    },
    async close(graceMs = 0) {
      unwatch()
      live.close()
      outage.close()
      await Promise.all([server.stop(graceMs), jobs.stop()])
      // Nobody waits for the queries that still run.
      const pools = [database, backgroundPool].map((pool) => pool.close())
      await withDeadline(Promise.all([opened.cache.close(), ...pools]), CLOSE_MS, () => {})
    },
  }
}

async function registerAll(opened: OpenNode, lockWaitMs: number | undefined): Promise<Feature[]> {
  const { node, sessions } = opened
  const { config, db, http, limits } = node
  const origin = originOf(config)
  const folder = join(config.dataDir, 'pages')
  const readText = registerTexts(node, { ...config, folder, origin })
  const search = registerSearch(node)
  const publish = createPublish({ ...node, lockWaitMs })
  const features = [
    registerSignIn(node, { sessions, readText }),
    registerCodes(node, sessions),
    registerSessions(node, sessions),
    registerAccount(node, sessions),
    registerAccountDeletion(node, sessions),
    registerPosts(node, publish),
    registerAnswers(node),
    registerLikes(node),
    registerModeration(node),
    registerSiteState(node),
  ]
  registerReplies(node, publish)
  registerMutes(node)
  registerReports(node)
  registerDataExport(node)
  registerIdentity(node, () => opened.server.refused())
  await servePages(http, {
    web: opened.web,
    db,
    search,
    readText,
    cache: opened.cache,
    limits,
    cookieName: sessions.cookieName,
    headers: opened.headers,
    appName: config.appName,
    origin,
  })
  opened.live.serve(http)
  return features
}

/** Watches the clock and the wall's health, and serves the metrics. Returns what stops all that. */
async function watch({ node, database, metrics, live, shut }: OpenNode): Promise<() => void> {
  const { config, db, background, log } = node
  const { metricsPort: port, metricsHost: host, dataDir, backupDir } = config
  const stops = [
    shut.watch(),
    watchClock(db, log),
    watchHealth({ db: background, config }, { log }),
  ]
  if (metrics && port !== undefined) {
    const sources = {
      log,
      database,
      dataDir,
      countStreams: () => live.streamCount,
      isBackedUpNightly: backupDir !== undefined,
    }
    stops.push(await metrics.serve({ port, host }, sources))
  }
  return () => {
    for (const stop of stops) stop()
  }
}
