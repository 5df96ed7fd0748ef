import type { FastifyBaseLogger } from 'fastify'
import { postIdOf } from '../contract/posts.ts'
import { createLikeFlag } from './features/likes/likes.service.ts'
import { isModerator } from './features/moderation/moderators.repository.ts'
import { SessionAuthenticator } from './features/sessions/authenticator.ts'
import { selectTokenKey } from './features/sessions/sessions.repository.ts'
import { Sessions } from './features/sessions/sessions.service.ts'
import { ShutNetworks } from './features/site-state/shut-networks.ts'
import { ChangeFeed } from './kernel/cache/change-feed.ts'
import { FastPath } from './kernel/cache/fast-path.ts'
import { ResponseCache } from './kernel/cache/response-cache.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import type { Config } from './kernel/config/config.ts'
import { storeAddresses } from './kernel/db/addresses.repository.ts'
import { createSteadinessCheck, readDatabaseTime } from './kernel/db/clock.ts'
import { fitPools } from './kernel/db/connections.ts'
import { LOCK_WAIT_MS, openDatabase, type PoolLimits } from './kernel/db/database.ts'
import { productVersion } from './kernel/db/migrate.ts'
import { Outage } from './kernel/db/outage.ts'
import { securityHeaders } from './kernel/http/headers.ts'
import { serveDescription } from './kernel/http/openapi.ts'
import { RequestLog, withHashedAddresses } from './kernel/http/request-log.ts'
import { createRouter } from './kernel/http/route.ts'
import { HttpServer } from './kernel/http/server.ts'
import { createAccessJournal } from './kernel/journal/journal.ts'
import { Limits } from './kernel/limits/limits.ts'
import { Live } from './kernel/live/live.ts'
import type { MailTransport } from './kernel/mail/transport.ts'
import type { ServerContext } from './kernel/server-context.ts'
import { createMetrics } from './operations/metrics/metrics.ts'
import { pageNotNow } from './pages/rendered-pages.ts'
import { loadWebApp } from './pages/web-app.ts'

export type AppOptions = {
  config: Config
  databaseUrl: string
  /** How many connections to the database the node may open; without a limit if undefined. */
  connections?: number | undefined
  secret: string
  transport: MailTransport
  log: FastifyBaseLogger
  webFolder: string
  poolLimits?: PoolLimits | undefined
  handleMs?: number | undefined
  /** LOCK_WAIT_MS unless set. */
  lockWaitMs?: number | undefined
  /** How long the clock must have run evenly; see `createSteadinessCheck`. */
  steadyMs?: number | undefined
}

/** A row that somebody holds must not hold up the jobs, which are repeated. */
const JOBS_LOCK_TIMEOUT_MS = 5000

export const BACKGROUND = {
  statementTimeoutMs: 3_600_000,
  lockTimeoutMs: JOBS_LOCK_TIMEOUT_MS,
  applicationName: 'vslukh jobs',
}

/** The queue of mails has connections that no other job can use up. */
const MAILERS = {
  connections: 2,
  statementTimeoutMs: 10_000,
  lockTimeoutMs: JOBS_LOCK_TIMEOUT_MS,
  applicationName: 'vslukh mails',
}

export type OpenContext = Awaited<ReturnType<typeof openContext>>

export async function openContext(options: AppOptions) {
  const base = await openBase(options)
  const served = await openHttp(base)
  const { auth, db, limits, handleMs } = base
  const { cache, server } = served
  const http = server.app
  const route = createRouter(http, {
    auth,
    limits,
    cache,
    postIdOf,
    handleMs,
    isModerator: (userId) => isModerator(db, userId),
  })
  const parts = { http, route, publishChange: cache.publishChange }
  return { ...base, ...served, ...parts } satisfies ServerContext
}

type Base = Awaited<ReturnType<typeof openBase>>

async function openBase(options: AppOptions) {
  const { config, secret, transport, steadyMs, lockWaitMs = LOCK_WAIT_MS } = options
  const key = (purpose: string) => deriveKey(secret, purpose)
  const log = withHashedAddresses(options.log)
  const outage = new Outage({ url: options.databaseUrl, log })
  const databases = openDatabases(options, { log, outage })
  const { db } = databases.database
  const background = databases.backgroundPool.db
  const limits = new Limits({
    db,
    scale: config.rateLimitScale,
    hashKey: key('limits'),
    onTrip: (tripped) => log.warn(tripped, 'limit tripped'),
  })
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(productVersion())
  const storedKey = await selectTokenKey(db)
  const idBase = await storeAddresses(db, config)
  const sessions = new Sessions({ ...config, secret, storedKey })
  return {
    ...options,
    ...databases,
    background,
    db,
    idBase,
    key,
    limits,
    lockWaitMs,
    log,
    metrics,
    outage,
    sessions,
    auth: new SessionAuthenticator(db, sessions.tokens, config.contactEmail),
    recordAccess: createAccessJournal(config.accessJournalDays),
    mail: transport,
    mayErase: createSteadinessCheck({
      readTime: () => readDatabaseTime(background),
      log,
      steadyMs,
    }),
  }
}

function openDatabases(
  { config, databaseUrl, connections, poolLimits }: AppOptions,
  { log, outage }: { log: FastifyBaseLogger; outage: Outage },
) {
  const onIdleError = (err: Error) => {
    if (!outage.reportFailure(err)) log.warn({ err }, 'an idle database connection broke')
  }
  // Jobs and the change feed bypass a pooler, because they need a database session of their own.
  const directUrl = config.databaseDirectUrl ?? databaseUrl
  const isBehindPooler = config.databaseDirectUrl !== undefined
  const { requests, jobs } = fitPools(connections, isBehindPooler)
  const ofRequests = { connections: requests, ...poolLimits, isBehindPooler, outage }
  const database = openDatabase(databaseUrl, onIdleError, ofRequests)
  // Jobs have their own pool: requests cannot use it up, and a job may read whole tables.
  const ofJobs = { ...BACKGROUND, connections: jobs, outage, waitsDuringOutage: true }
  const backgroundPool = openDatabase(directUrl, outage.reportFailure, ofJobs)
  const ofMails = { ...MAILERS, outage, waitsDuringOutage: true }
  const mailPool = openDatabase(directUrl, outage.reportFailure, ofMails)
  return { directUrl, database, backgroundPool, mailPool }
}

async function openHttp(base: Base) {
  const { auth, config, db, idBase, limits, log, metrics, outage } = base
  const { trustProxy } = config
  const web = await loadWebApp(base.webFolder, { ...config, idBase })
  const headers = securityHeaders(config, web?.inlineHashes)
  const live = new Live()
  const shut = new ShutNetworks(base.background, () => server.endShutStreams())
  const isShared = config.databaseUrl !== undefined
  const cache = new ResponseCache({
    openFeed: (events) => new ChangeFeed(db, { url: base.directUrl, isShared, outage, ...events }),
    outage,
    onChange(change) {
      live.announce(change)
      shut.readAfter(change)
    },
    log,
    headers,
    flag: createLikeFlag(db, auth),
  })
  const { reportRefusal } = outage
  const requestLog = new RequestLog({ log, reportRefusal, observe: metrics?.observe })
  const fastPath = new FastPath(cache, { auth, limits, trustProxy, requestLog, outage })
  const server = new HttpServer({
    logger: log,
    requestLog,
    trustProxy,
    shutNetworks: shut,
    headers,
    fastPath,
    pageNotNow: web && pageNotNow(web),
    contact: config.contactEmail,
  })
  const { cookieName } = base.sessions
  const { appName, publicUrl } = config
  serveDescription(server.app, { appName, cookieName, publicUrl, limits })
  return { web, headers, live, cache, requestLog, server, shut }
}
