import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { registerAccount } from './account/account.routes.ts'
import { deriveKey } from './app-secret.ts'
import type { Config } from './config.ts'
import { startJobs } from './db/jobs.ts'
import { type OpenDatabase, openDatabase } from './db/open.ts'
import { serveHealth } from './http/health.ts'
import { createHttpServer } from './http/http-server.ts'
import { createLimits } from './http/limits.ts'
import { describeApi } from './http/openapi.ts'
import { loadPage, servePages } from './http/pages.ts'
import { createRouter } from './http/route.ts'
import { CRONTAB, createTasks } from './jobs.ts'
import { registerLikes } from './likes/likes.routes.ts'
import type { MailTransport } from './mail/transport.ts'
import { registerPosts } from './posts/posts.routes.ts'
import { registerReplies } from './replies/replies.routes.ts'
import { registerReports } from './reports/reports.routes.ts'
import { registerSessions } from './sessions/sessions.routes.ts'
import { createSessions } from './sessions/sessions.ts'
import { registerSignIn } from './sign-in/sign-in.routes.ts'

export type AppOptions = {
  config: Config
  databaseUrl: string
  secret: string
  transport: MailTransport
  log: FastifyBaseLogger
  /** Folder of the built web app. */
  webFolder: string
}

export type App = {
  http: FastifyInstance
  database: OpenDatabase
  /** Lets requests in flight and jobs at work finish, then lets go of the database. */
  close(): Promise<void>
}

/** Builds the product on a migrated database: routes, pages and jobs. It listens once `http.listen` is called. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, log, secret, transport } = options
  const database = openDatabase(options.databaseUrl, (error) =>
    log.warn({ err: error }, 'an idle database connection broke'),
  )
  const patient = openDatabase(options.databaseUrl, () => {}, PATIENT)
  const { db, pool } = database
  const isHttps = config.publicUrl?.startsWith('https:') ?? false
  const limits = createLimits(pool, config.rateLimitScale)
  const sessions = createSessions({
    secret,
    accessTokenSeconds: config.accessTokenSeconds,
    isHttps,
  })
  const codeKey = deriveKey(secret, 'codes')
  const codes = { key: codeKey, ttlSeconds: config.codeTtlSeconds, limits }

  const page = await loadPage(options.webFolder, config)
  const http = await createHttpServer({
    logger: log,
    trustProxy: config.trustProxy,
    isHttps,
    inlineScriptHashes: page?.inlineScriptHashes ?? [],
  })
  await describeApi(http, config.appName)
  const route = createRouter(http, { auth: sessions.authenticator(db), limits })
  const features = { route, db, config, limits, sessions, codes }
  registerSignIn(features)
  registerSessions(features)
  registerAccount(features)
  registerPosts(features)
  registerReplies(features)
  registerLikes(features)
  registerReports(features)
  serveHealth(http, db)
  await servePages(http, page, sessions)

  const tasks = createTasks({
    db,
    patientDb: patient.db,
    log,
    codeKey,
    appName: config.appName,
    transport,
  })
  const jobs = await startJobs(pool, { tasks, crontab: CRONTAB, log })
  return {
    http,
    database,
    async close() {
      const drained = setTimeout(() => http.server.closeAllConnections(), DRAIN_MS)
      await http.close()
      clearTimeout(drained)
      await jobs.stop()
      transport.close()
      await Promise.all([database.close(), patient.close()])
    },
  }
}

/** Requests in flight get this long to finish; then their connections are cut. */
const DRAIN_MS = 8500
/** For nightly work, which may read whole tables. */
const PATIENT = { connections: 1, statementTimeoutMs: 3_600_000 }
