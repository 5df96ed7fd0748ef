import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { registerAccount } from './account/account.routes.ts'
import { registerCodes } from './codes/codes.routes.ts'
import type { Config } from './config.ts'
import { watchClock } from './db/clock-watch.ts'
import { type OpenDatabase, openDatabase, type PoolLimits } from './db/database.ts'
import { settles } from './db/settles.ts'
import type { Viewer } from './http/authenticate.ts'
import { hashAddresses } from './http/hashed-log.ts'
import { serveHealth } from './http/health.ts'
import type { Place } from './http/listen.ts'
import { describeApi } from './http/openapi.ts'
import { createRefusalLog } from './http/refusal-log.ts'
import { createRouter } from './http/route.ts'
import { createHttpServer } from './http/server.ts'
import { registerLikes } from './likes/likes.routes.ts'
import { batchLikedPosts } from './likes/likes.service.ts'
import type { MailTransport } from './mail/transport.ts'
import { loadPage, servePages } from './pages/serve-pages.ts'
import { readPostForPage, registerPosts } from './posts/posts.routes.ts'
import { startJobs } from './queue/queue.ts'
import { createLimits, logTripped } from './rate-limits/rate-limits.ts'
import { registerReplies } from './replies/replies.routes.ts'
import { registerReports } from './reports/reports.routes.ts'
import { createSharedReads } from './response-cache/cached-reads.ts'
import { replayKept } from './response-cache/fast-path.ts'
import { openFreshness } from './response-cache/response-cache.ts'
import { registerSessions } from './sessions/sessions.routes.ts'
import { createSessions } from './sessions/sessions.service.ts'
import { registerSignIn } from './sign-in/sign-in.routes.ts'
import { deriveKey } from './start/app-secret.ts'
import { CRONTAB, createTasks } from './tasks.ts'

export type AppOptions = {
  config: Config
  databaseUrl: string
  secret: string
  transport: MailTransport
  log: FastifyBaseLogger
  /** Folder of the built web app. */
  webFolder: string
  /** What a request may take of the database, where it is not what openDatabase allows. */
  poolLimits?: PoolLimits | undefined
}

export type App = {
  http: FastifyInstance
  /** Resolves to the URL once it answers there; rejects with the system's error. */
  listen(place: Place): Promise<string>
  database: OpenDatabase
  /**
   * Lets requests in flight and jobs at work finish, then lets go of the database. Connections that were used within
   * `keptMs` may ask once more.
   */
  close(keptMs?: number): Promise<void>
}

/** Builds the product on a migrated database: routes, pages and jobs. It listens once `listen` is called. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, secret, transport } = options
  const log = hashAddresses(options.log, deriveKey(secret, 'log'))
  const database = openDatabase(
    options.databaseUrl,
    (error) => log.warn({ err: error }, 'an idle database connection broke'),
    options.poolLimits,
  )
  const patient = openDatabase(options.databaseUrl, () => {}, PATIENT)
  const { db, pool } = database
  const isHttps = config.publicUrl?.startsWith('https:') ?? false
  const limits = createLimits(pool, config.rateLimitScale, deriveKey(secret, 'limits'))
  logTripped(limits, log)
  const sessions = createSessions({
    secret,
    accessTokenSeconds: config.accessTokenSeconds,
    isHttps,
  })
  const codeKey = deriveKey(secret, 'codes')
  const mailLimit = { key: deriveKey(secret, 'code-mails'), scale: config.rateLimitScale }
  const codes = { key: codeKey, ttlSeconds: config.codeTtlSeconds, limits, mailLimit }
  const undoKey = deriveKey(secret, 'email-undo')

  const freshness = openFreshness({ db, sharedUrl: config.databaseUrl, log })
  const { kept, changed } = freshness
  const { shareRead, readAsVisitor } = createSharedReads(kept, batchLikedPosts(db))

  const refusals = createRefusalLog(log)
  const page = await loadPage(options.webFolder, config)
  const {
    app: http,
    listen,
    stop,
  } = await createHttpServer({
    logger: log,
    refusals,
    trustProxy: config.trustProxy,
    isHttps,
    hstsSubdomains: config.hstsSubdomains,
    inlineScriptHashes: page?.inlineScriptHashes ?? [],
    before: (listener) =>
      replayKept(listener, {
        kept,
        limit: limits.visitorCalls,
        trustProxy: config.trustProxy,
        log,
      }),
  })
  await describeApi(http, {
    appName: config.appName,
    cookieName: sessions.cookieName,
    limit: limits.pageFiles,
  })
  const auth = sessions.authenticator(db)
  // Users see at once what they changed on another node.
  async function isLive(viewer: Viewer): Promise<boolean> {
    const [isLive] = await Promise.all([auth.isLive(viewer), freshness.catchUp()])
    return isLive
  }
  const route = createRouter(http, { auth: { ...auth, isLive }, limits })
  const invalidatePosts = () => changed('posts')
  registerSignIn({ route, db, limits, sessions, codes, publicUrl: config.publicUrl })
  registerCodes({ route, db, sessions })
  registerSessions({ route, db, limits, sessions, publicUrl: config.publicUrl })
  registerAccount({ route, db, limits, sessions, codes, undoKey, invalidate: invalidatePosts })
  registerPosts({
    route,
    db,
    limits,
    editPeriodSeconds: config.editPeriodSeconds,
    shareRead,
    invalidate: invalidatePosts,
  })
  registerReplies({ route, db, limits, shareRead, invalidate: invalidatePosts })
  registerLikes({ route, db, limits, invalidate: () => changed('likes') })
  registerReports({ route, db, limits })
  serveHealth(http, db)
  await servePages(http, page, {
    cookieName: sessions.cookieName,
    readPost: (id) => readPostForPage({ db, readAsVisitor }, id),
    limit: limits.visitorCalls,
    fileLimit: limits.pageFiles,
  })

  const tasks = createTasks({
    db,
    backgroundDb: patient.db,
    log,
    codeKey,
    undoKey,
    origin: config.publicUrl ?? `http://localhost:${config.port}`,
    appName: config.appName,
    transport,
  })
  const unwatchClock = watchClock(db, log)
  const jobs = await startJobs(patient.pool, { tasks, crontab: CRONTAB, log })
  return {
    http,
    listen,
    database,
    async close(keptMs = 0) {
      unwatchClock()
      await Promise.all([stop(keptMs), jobs.stop()])
      refusals.close()
      transport.close()
      // What is still asked of the database has nobody left to tell: its server cuts it off when it stops.
      const closed = Promise.all([freshness.close(), database.close(), patient.close()])
      await settles(closed, CLOSE_MS)
    },
  }
}

const CLOSE_MS = 500
/** For jobs: requests leave them connections, and nightly work may read whole tables. */
const PATIENT = { connections: 5, statementTimeoutMs: 3_600_000, applicationName: 'vslukh jobs' }
