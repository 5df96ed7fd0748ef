import type { FastifyInstance } from 'fastify'
import { registerAccount } from './features/account/account.routes.ts'
import { registerAccountDeletion } from './features/account-deletion/account-deletion.routes.ts'
import { registerAnswers } from './features/answers/answers.routes.ts'
import { registerCodes } from './features/codes/codes.routes.ts'
import { registerDataExport } from './features/data-export/data-export.routes.ts'
import { registerLikes } from './features/likes/likes.routes.ts'
import { registerModeration } from './features/moderation/moderation.routes.ts'
import { countWaiting } from './features/moderation/queue.repository.ts'
import { registerMutes } from './features/mutes/mutes.routes.ts'
import { postIdOf, registerPosts } from './features/posts/posts.routes.ts'
import { createPublish } from './features/posts/publications.service.ts'
import { registerReplies } from './features/replies/replies.routes.ts'
import { isReported } from './features/reports/reports.repository.ts'
import { registerReports } from './features/reports/reports.routes.ts'
import { registerSearch } from './features/search/search.routes.ts'
import { registerSessions } from './features/sessions/sessions.routes.ts'
import { registerSignIn } from './features/sign-in/sign-in.routes.ts'
import { registerTexts } from './features/texts/texts.routes.ts'
import { jobsOf } from './jobs.ts'
import { originOf } from './kernel/config/config.ts'
import { watchClock } from './kernel/db/clock.ts'
import type { OpenDatabase } from './kernel/db/database.ts'
import { withDeadline } from './kernel/db/deadline.ts'
import { quietDuringOutages } from './kernel/db/outage.ts'
import { serveHealth } from './kernel/http/health.ts'
import type { ListenAddress } from './kernel/http/listen.ts'
import { createRouter, type Route } from './kernel/http/route.ts'
import { createAccessJournal } from './kernel/journal/access-journal.ts'
import { shortenPause } from './kernel/mail/login-pause.repository.ts'
import { startJobs } from './kernel/queue/queue.ts'
import { type AppOptions, createNode, type Node } from './node.ts'
import { selectBackupState } from './operations/backup/backup-state.repository.ts'
import { IDENTITY_KEY, watchHealth } from './operations/doctor/doctor.service.ts'
import { readWallHealth } from './operations/doctor/health.service.ts'
import { registerIdentity } from './operations/doctor/identity.routes.ts'
import { createPageReads } from './pages/page-reads.ts'
import { servePages } from './pages/serve-pages.ts'

export type App = {
  http: FastifyInstance
  /** Resolves to the URL once it answers there; rejects with the system's error. */
  listen(address: ListenAddress): Promise<string>
  database: OpenDatabase
  /** Makes /readyz say 503, while everything is served on. */
  drain(): void
  /**
   * Lets requests in flight and running jobs finish, then closes the connections to the database.
   * HTTP connections that were used within `graceMs` may send one more request.
   */
  close(graceMs?: number): Promise<void>
}

const CLOSE_MS = 500

/**
 * Builds the product on a migrated database: routes, pages and jobs. It listens when `listen` is
 * called.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const node = await createNode(options)
  const { config, database, background, outage, log, refusals, cache, server } = node
  const { app: http } = server
  const route = createRouter(http, {
    auth: node.authenticator,
    limits: node.limits,
    cache,
    postIdOf,
    handleMs: options.handleMs,
  })
  registerFeatures(route, node, options)
  let isDraining = false
  serveHealth(http, {
    db: database.db,
    databaseFolder: config.databaseUrl === undefined ? config.dataDir : undefined,
    isDraining: () => isDraining,
  })
  registerIdentity(http, { key: node.key(IDENTITY_KEY), trustProxy: config.trustProxy })
  await servePages(http, {
    web: node.web,
    reads: createPageReads({ ...node, db: database.db }),
    cache,
    limits: node.limits,
    cookieName: node.sessions.cookieName,
    headers: node.headers,
    appName: config.appName,
    origin: originOf(config),
  })
  node.live.serve(http)
  const unwatch = await watch(node)
  const jobs = await startJobs(background.pool, {
    jobs: jobsOf(node, options),
    log: quietDuringOutages(log, outage),
  })
  // Without it the mails only wait for the rest of their minute.
  void shortenPause(background.db).catch((err) => log.warn({ err }, 'mails stay paused'))
  return {
    http,
    listen: server.listen,
    database,
    drain() {
      isDraining = true
      node.live.close()
    },
    async close(graceMs = 0) {
      unwatch()
      node.live.close()
      outage.close()
      await Promise.all([server.stop(graceMs), jobs.stop()])
      refusals.close()
      // Nobody waits for the queries that are still running: the database server ends them when it
      // stops.
      const pools = [database, background].map((pool) => pool.close())
      await withDeadline(Promise.all([cache.close(), ...pools]), CLOSE_MS, () => {})
    },
  }
}

/** Lists the routes of every feature. */
function registerFeatures(route: Route, node: Node, { lockWaitMs, transport }: AppOptions): void {
  const { config, limits, sessions, readText, server, key, cache } = node
  const { db } = node.database
  const { publicUrl, appName, removedDays, moderatorEmails } = config
  const [undoKey, nameKey] = [key('email-undo'), key('usernames')]
  const { canSendTo } = transport
  const codes = {
    key: key('codes'),
    ttlSeconds: config.codeTtlSeconds,
    limits,
    rateLimitScale: config.rateLimitScale,
    askerKey: key('askers'),
    canSendTo,
  }
  const { publishChange } = cache
  const noteAccess = createAccessJournal(config.accessJournalDays)
  const account = { route, db, limits, sessions, codes, nameKey, publishChange }
  registerSignIn({ ...account, publicUrl, readText, noteAccess })
  registerCodes({ route, db, sessions })
  registerSessions({ route, db, limits, sessions, publicUrl })
  registerAccount({ ...account, undoKey })
  registerAccountDeletion({ ...account, noteAccess })
  const publish = createPublish({ db, limits, publishChange, noteAccess, lockWaitMs })
  const posts = { route, db, limits, publish, publishChange, noteAccess }
  const { editPeriodSeconds } = config
  registerPosts({ ...posts, editPeriodSeconds, removedDays, isEvidence: isReported })
  registerReplies({ route, db, publish })
  const unsubscribeKey = key('unsubscribe')
  registerAnswers({ route, http: server.app, db, limits, unsubscribeKey })
  registerSearch({ route, search: node.search })
  registerMutes({ route, db })
  registerLikes({ route, db, limits })
  registerReports({ route, db, limits, rules: config, publishChange })
  registerModeration({ route, db, limits, removedDays, moderatorEmails, publishChange })
  registerTexts({ route, readText })
  const downloads = { db: node.background.db, appName, key: key('downloads') }
  registerDataExport({ route, http: server.app, limits, ...downloads })
}

/** Watches the clock and the wall's health, and serves the metrics. Returns what stops all that. */
async function watch({
  config,
  database,
  background,
  metrics,
  live,
  log,
}: Node): Promise<() => void> {
  const { metricsPort: port, metricsHost: host, dataDir, backupDir } = config
  const { db } = database
  const stops = [watchClock(db, log), watchHealth({ db: background.db, config }, { log })]
  if (metrics && port !== undefined) {
    const sources = {
      log,
      database,
      dataDir,
      countStreams: live.countStreams,
      readWallHealth: () => readWallHealth(db),
      countReports: () => countWaiting(db),
      readBackups: () => selectBackupState(db),
      isBackedUpNightly: backupDir !== undefined,
    }
    stops.push(await metrics.serve({ port, host }, sources))
  }
  return () => {
    for (const stop of stops) stop()
  }
}
