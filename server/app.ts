import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { registerAccount } from './account/account.routes.ts'
import { registerAccountDeletion } from './account-deletion/account-deletion.routes.ts'
import { registerCodes } from './codes/codes.routes.ts'
import { type Config, originOf } from './config.ts'
import { registerDataExport } from './data-export/data-export.routes.ts'
import { batchCalls } from './db/batch-calls.ts'
import { type Db, type OpenDatabase, openDatabase, type PoolLimits } from './db/database.ts'
import { withDeadline } from './db/deadline.ts'
import { productVersion } from './db/migrate.ts'
import { type Outage, quietDuringOutages, watchOutages } from './db/outage.ts'
import { openReplica, type Replica, type RunRead } from './db/replica.ts'
import { IDENTITY_KEY } from './doctor/doctor.service.ts'
import { registerIdentity } from './doctor/identity.routes.ts'
import type { Authenticator } from './http/authenticate.ts'
import { securityHeaders } from './http/headers.ts'
import { serveHealth } from './http/health.ts'
import type { ListenAddress } from './http/listen.ts'
import { describeApi } from './http/openapi.ts'
import { createRefusalLog } from './http/refusal-log.ts'
import { hashAddresses } from './http/request-log.ts'
import { createRouter, type Route } from './http/route.ts'
import { createHttpServer } from './http/server.ts'
import { createAccessJournal } from './journal/access-journal.ts'
import { type LikesQuestion, selectLiked } from './likes/likes.repository.ts'
import { registerLikes } from './likes/likes.routes.ts'
import { shortenPause } from './mail/login-pause.repository.ts'
import { createMailGate } from './mail/mail-gate.ts'
import type { MailTransport } from './mail/transport.ts'
import { createMetrics, type Metrics } from './metrics/metrics.ts'
import { registerModeration } from './moderation/moderation.routes.ts'
import { isModerator } from './moderation/moderators.repository.ts'
import { loadWebApp, type WebApp } from './pages/web-app.ts'
import { registerPosts } from './posts/posts.routes.ts'
import { createPublish } from './posts/publications.service.ts'
import { startJobs } from './queue/queue.ts'
import { createLimits, type Limits, logTripped } from './rate-limits/rate-limits.ts'
import { registerReplies } from './replies/replies.routes.ts'
import { registerReports } from './reports/reports.routes.ts'
import { createResponseCache, type ResponseCache } from './response-cache/response-cache.ts'
import { registerSessions } from './sessions/sessions.routes.ts'
import { createSessions, type Sessions } from './sessions/sessions.service.ts'
import { registerSignIn } from './sign-in/sign-in.routes.ts'
import { registerSite } from './site.ts'
import { deriveKey } from './start/app-secret.ts'
import { createTasks, crontabOf } from './tasks.ts'
import { registerTexts } from './texts/texts.routes.ts'
import { createTexts, type ReadText } from './texts/texts.service.ts'
import { watchWall } from './watching.ts'

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
  /** Makes /readyz say 503, while everything is served on. */
  drain(): void
  /**
   * Lets requests in flight and running jobs finish, then closes the connections to the database. HTTP connections that
   * were used within `graceMs` may send one more request.
   */
  close(graceMs?: number): Promise<void>
}

/** Builds the product on a migrated database: routes, pages and jobs. It listens when `listen` is called. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, databaseUrl, secret } = options
  const log = hashAddresses(options.log, deriveKey(secret, 'log'))
  const outage = watchOutages({ url: databaseUrl, log })
  const onIdleError = (err: Error) => {
    if (!outage.noteFailure(err)) log.warn({ err }, 'an idle database connection broke')
  }
  const directUrl = config.databaseDirectUrl ?? databaseUrl
  const isBehindPooler = config.databaseDirectUrl !== undefined
  const pool = { ...options.poolLimits, isBehindPooler, outage }
  const database = openDatabase(databaseUrl, onIdleError, pool)
  const patient = { ...BACKGROUND, outage, isPatient: true }
  const background = openDatabase(directUrl, outage.noteFailure, patient)
  const { db } = database
  const replicaUrl = config.databaseReplicaUrl
  const replica =
    replicaUrl === undefined
      ? undefined
      : openReplica({ url: replicaUrl, primary: db, primaryUrl: directUrl, log })
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(productVersion())
  const limits = createLimits(database.pool, config.rateLimitScale, deriveKey(secret, 'limits'))
  logTripped(limits, log)
  const isHttps = config.publicUrl?.startsWith('https:') ?? false
  const parts: Parts = {
    config,
    directUrl,
    db,
    outage,
    replica,
    runRead: replica?.runRead ?? ((read) => read(db)),
    log,
    limits,
    secret,
    metrics,
    sessions: createSessions({ secret, accessTokenSeconds: config.accessTokenSeconds, isHttps }),
    refusals: createRefusalLog(log),
    web: await loadWebApp(options.webFolder, config),
    codeKey: deriveKey(secret, 'codes'),
    undoKey: deriveKey(secret, 'email-undo'),
    nameKey: deriveKey(secret, 'usernames'),
    readText: createTexts({
      ...config,
      folder: join(config.dataDir, 'pages'),
      origin: originOf(config),
    }),
  }
  const { app: http, listen, stop, cache, headers } = await createHttp(parts, isHttps)
  const route = createRouter(http, { auth: createAuthenticator(parts), limits, cache })
  registerFeatures(route, parts, cache)
  const { appName } = config
  registerTexts({ route, readText: parts.readText })
  registerDataExport({ route, http, db, limits, appName, key: deriveKey(secret, 'downloads') })
  let isDraining = false
  serveHealth(http, {
    db,
    databaseFolder: config.databaseUrl === undefined ? config.dataDir : undefined,
    isDraining: () => isDraining,
  })
  const { cookieName } = parts.sessions
  await registerSite(http, { ...parts, cookieName, cache, headers })
  registerIdentity(http, {
    key: deriveKey(secret, IDENTITY_KEY),
    trustProxy: config.trustProxy,
  })
  const unwatch = await watchWall({ config, database, background, metrics, log })
  const jobs = await startJobs(background.pool, {
    tasks: createTasks({
      ...parts,
      backgroundDb: background.db,
      gate: createMailGate({
        db,
        pool: database.pool,
        mailsPerHour: config.mailsPerHour,
        onLimit: () => log.warn({ limit: 'MAILS_PER_HOUR' }, 'limit tripped'),
      }),
      transport: metrics?.countMails(options.transport) ?? options.transport,
      invalidate: () => cache.publishChange('posts'),
    }),
    crontab: crontabOf(config),
    log: quietDuringOutages(log, outage),
  })
  // Without it the mails only wait for the rest of their minute.
  void shortenPause(background.db).catch((err) => log.warn({ err }, 'mails stay paused'))
  return {
    http,
    listen,
    database,
    drain() {
      isDraining = true
    },
    async close(graceMs = 0) {
      unwatch()
      outage.close()
      await Promise.all([stop(graceMs), jobs.stop()])
      parts.refusals.close()
      // Nobody waits for the queries that are still running: the database server ends them when it stops.
      const closed = Promise.all([
        cache.close(),
        ...[database, background, replica].map((pool) => pool?.close()),
      ])
      await withDeadline(closed, CLOSE_MS, () => {})
    },
  }
}

/** What the server, the features and the jobs of one node are built from. */
type Parts = {
  config: Config
  /** URL of the database for connections that keep a state of their own, past a pooler. */
  directUrl: string
  db: Db
  outage: Outage
  /** The standbys that posts are read from; undefined where there are none. */
  replica: Replica | undefined
  runRead: RunRead
  log: FastifyBaseLogger
  limits: Limits
  secret: string
  /** Absent where METRICS_PORT is unset. */
  metrics: Metrics | undefined
  sessions: Sessions
  refusals: ReturnType<typeof createRefusalLog>
  web: WebApp | null
  codeKey: Buffer
  undoKey: Buffer
  nameKey: Buffer
  readText: ReadText
}

const CLOSE_MS = 500
/** The pool of jobs: requests cannot take its connections, and nightly jobs may read whole tables. */
const BACKGROUND = { connections: 5, statementTimeoutMs: 3_600_000, applicationName: 'vslukh jobs' }

/** Makes the HTTP server with its documentation, and the cache that answers visitors before it. */
async function createHttp(parts: Parts, isHttps: boolean) {
  const { config, directUrl, db, replica, runRead, outage, log } = parts
  const { limits, sessions, refusals, web, metrics } = parts
  const { trustProxy } = config
  const headers = securityHeaders({
    isHttps,
    hstsSubdomains: config.hstsSubdomains,
    inlineHashes: web?.inlineHashes ?? { scripts: [], styles: [] },
  })
  const likedBy = batchCalls((questions: LikesQuestion[]) =>
    runRead((from) => selectLiked(from, questions)),
  )
  const cache = createResponseCache({
    db,
    databaseUrl: directUrl,
    isShared: config.databaseUrl !== undefined,
    isBehindPooler: config.databaseDirectUrl !== undefined,
    outage,
    replica,
    log,
    headers,
    likedBy,
  })
  const observe = metrics?.observe
  const fastPath = cache.fastPath({ limit: limits.visitorCalls, trustProxy, log, observe })
  const server = await createHttpServer({
    logger: log,
    refusals,
    noteRefused: outage.noteRefused,
    trustProxy,
    headers,
    observe,
    before: fastPath.wrap,
    insteadOfRefusal: fastPath.serveSaved,
  })
  await describeApi(server.app, {
    appName: config.appName,
    cookieName: sessions.cookieName,
    limit: limits.pageFiles,
  })
  return { ...server, cache, headers }
}

function createAuthenticator({ sessions, db, config }: Parts): Authenticator {
  return {
    ...sessions.authenticator(db),
    isModerator: ({ userId }) => isModerator(db, userId),
    contact: config.contactEmail,
  }
}

function registerFeatures(route: Route, parts: Parts, cache: ResponseCache): void {
  const { config, db, runRead, limits, secret, sessions, codeKey, undoKey, nameKey } = parts
  const { publicUrl, editPeriodSeconds, rateLimitScale, removedDays, moderatorEmail } = config
  const mailLimit = { key: deriveKey(secret, 'code-mails'), scale: rateLimitScale }
  const codes = { key: codeKey, ttlSeconds: config.codeTtlSeconds, limits, mailLimit }
  const invalidate = () => cache.publishChange('posts')
  const noteAccess = createAccessJournal(db, config.accessJournalDays)
  registerSignIn({ route, db, limits, sessions, codes, publicUrl, invalidate, noteAccess })
  registerCodes({ route, db, sessions })
  registerSessions({ route, db, limits, sessions, publicUrl })
  registerAccount({ route, db, limits, sessions, codes, undoKey, nameKey, invalidate })
  registerAccountDeletion({ route, db, limits, sessions, codes, invalidate, noteAccess })
  const { publishChange } = cache
  const publish = createPublish({ db, limits, publishChange, noteAccess })
  const posts = { route, db, runRead, limits, publish, publishChange, noteAccess }
  registerPosts({ ...posts, editPeriodSeconds, removedDays })
  registerReplies({ route, db, runRead, publish })
  registerLikes({ route, db, limits, publishChange })
  registerReports({ route, db, limits, rules: config, invalidate })
  registerModeration({ route, db, limits, removedDays, moderatorEmail, invalidate })
}
