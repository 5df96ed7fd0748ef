import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { registerAccount } from './account/account.routes.ts'
import { registerCodes } from './codes/codes.routes.ts'
import type { Config } from './config.ts'
import { watchClock } from './db/clock-watch.ts'
import { type OpenDatabase, openDatabase, type PoolLimits } from './db/database.ts'
import { withDeadline } from './db/deadline.ts'
import { securityHeaders } from './http/headers.ts'
import { serveHealth } from './http/health.ts'
import type { ListenAddress } from './http/listen.ts'
import { describeApi } from './http/openapi.ts'
import { createRefusalLog } from './http/refusal-log.ts'
import { hashAddresses } from './http/request-log.ts'
import { createRouter } from './http/route.ts'
import { createHttpServer } from './http/server.ts'
import { registerLikes } from './likes/likes.routes.ts'
import { batchLikedPosts } from './likes/likes.service.ts'
import type { MailTransport } from './mail/transport.ts'
import { loadWebApp, servePages } from './pages/serve-pages.ts'
import { readPostForPage, registerPosts } from './posts/posts.routes.ts'
import { startJobs } from './queue/queue.ts'
import { createLimits, logTripped } from './rate-limits/rate-limits.ts'
import { registerReplies } from './replies/replies.routes.ts'
import { registerReports } from './reports/reports.routes.ts'
import { createResponseCache } from './response-cache/response-cache.ts'
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
  /** Limits of the request pool, where they differ from openDatabase's own. */
  poolLimits?: PoolLimits | undefined
}

export type App = {
  http: FastifyInstance
  /** Resolves to the URL once it answers there; rejects with the system's error. */
  listen(address: ListenAddress): Promise<string>
  database: OpenDatabase
  /**
   * Lets requests in flight and running jobs finish, then closes the connections to the database. HTTP connections that
   * were used within `graceMs` may send one more request.
   */
  close(graceMs?: number): Promise<void>
}

/** Builds the product on a migrated database: routes, pages and jobs. It listens when `listen` is called. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, secret, transport } = options
  const log = hashAddresses(options.log, deriveKey(secret, 'log'))
  const database = openDatabase(
    options.databaseUrl,
    (error) => log.warn({ err: error }, 'an idle database connection broke'),
    options.poolLimits,
  )
  const background = openDatabase(options.databaseUrl, () => {}, BACKGROUND)
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

  const refusals = createRefusalLog(log)
  const web = await loadWebApp(options.webFolder, config)
  const headers = securityHeaders({
    isHttps,
    hstsSubdomains: config.hstsSubdomains,
    inlineScriptHashes: web?.inlineScriptHashes ?? [],
  })
  const cache = createResponseCache({
    db,
    sharedUrl: config.databaseUrl,
    log,
    headers,
    likedBy: batchLikedPosts(db),
  })
  const {
    app: http,
    listen,
    stop,
  } = await createHttpServer({
    logger: log,
    refusals,
    trustProxy: config.trustProxy,
    headers,
    before: (listener) =>
      cache.fastPath(listener, {
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
  const route = createRouter(http, { auth: sessions.authenticator(db), limits, cache })
  const { publicUrl, editPeriodSeconds } = config
  const invalidate = () => cache.publishChange('posts')
  registerSignIn({ route, db, limits, sessions, codes, publicUrl })
  registerCodes({ route, db, sessions })
  registerSessions({ route, db, limits, sessions, publicUrl })
  registerAccount({ route, db, limits, sessions, codes, undoKey, invalidate })
  registerPosts({ route, db, limits, editPeriodSeconds, invalidate })
  registerReplies({ route, db, limits, invalidate })
  registerLikes({ route, db, limits, invalidate: () => cache.publishChange('likes') })
  registerReports({ route, db, limits })
  serveHealth(http, db)
  await servePages(http, web, {
    cookieName: sessions.cookieName,
    readPost: (id) => readPostForPage({ db, readAsVisitor: cache.readAsVisitor }, id),
    limit: limits.visitorCalls,
    fileLimit: limits.pageFiles,
  })

  const tasks = createTasks({
    db,
    backgroundDb: background.db,
    log,
    codeKey,
    undoKey,
    origin: config.publicUrl ?? `http://localhost:${config.port}`,
    appName: config.appName,
    transport,
  })
  const unwatchClock = watchClock(db, log)
  const jobs = await startJobs(background.pool, { tasks, crontab: CRONTAB, log })
  return {
    http,
    listen,
    database,
    async close(graceMs = 0) {
      unwatchClock()
      await Promise.all([stop(graceMs), jobs.stop()])
      refusals.close()
      transport.close()
      // Nobody waits for the queries that are still running: the database server ends them when it stops.
      const closed = Promise.all([cache.close(), database.close(), background.close()])
      await withDeadline(closed, CLOSE_MS, () => {})
    },
  }
}

const CLOSE_MS = 500
/** The pool of jobs: requests cannot take its connections, and nightly jobs may read whole tables. */
const BACKGROUND = { connections: 5, statementTimeoutMs: 3_600_000, applicationName: 'vslukh jobs' }
