import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { createLikeFlag } from './features/likes/likes.service.ts'
import { isModerator } from './features/moderation/moderators.repository.ts'
import { createSearch } from './features/search/search.service.ts'
import { selectTokenKey } from './features/sessions/sessions.repository.ts'
import { createSessions } from './features/sessions/sessions.service.ts'
import { createTexts } from './features/texts/texts.service.ts'
import { createResponseCache } from './kernel/cache/response-cache.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import { type Config, originOf } from './kernel/config/config.ts'
import { openDatabase, type PoolLimits } from './kernel/db/database.ts'
import { productVersion } from './kernel/db/migrate.ts'
import { type Outage, watchOutages } from './kernel/db/outage.ts'
import { securityHeaders } from './kernel/http/headers.ts'
import { describeApi } from './kernel/http/openapi.ts'
import { createRefusalLog } from './kernel/http/refusal-log.ts'
import { hashAddresses } from './kernel/http/request-log.ts'
import { createHttpServer } from './kernel/http/server.ts'
import { createLimits } from './kernel/limits/limits.ts'
import { createLive } from './kernel/live/live.ts'
import type { MailTransport } from './kernel/mail/transport.ts'
import { createMetrics } from './operations/metrics/metrics.ts'
import { pageNotNow } from './pages/serve-pages.ts'
import { loadWebApp } from './pages/web-app.ts'

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
  /** See `RouterOptions.handleMs`. */
  handleMs?: number | undefined
  /** How long publications that share a statement wait for a lock; see `createPublish`. */
  lockWaitMs?: number | undefined
  /**
   * For how long the clock must have run evenly before anything is erased for good, in
   * milliseconds; an hour unless set.
   */
  settleMs?: number | undefined
}

/** The pool of jobs. */
export const BACKGROUND = {
  connections: 5,
  statementTimeoutMs: 3_600_000,
  applicationName: 'vslukh jobs',
}

/** What features, pages and jobs of one node are built on. */
export type Node = Awaited<ReturnType<typeof createNode>>

/** Opens the databases and builds what features, pages and jobs share. */
export async function createNode(options: AppOptions) {
  const { config, secret } = options
  const { trustProxy, publicUrl } = config
  const key = (purpose: string) => deriveKey(secret, purpose)
  const log = hashAddresses(options.log)
  const outage = watchOutages({ url: options.databaseUrl, log })
  const databases = openDatabases(options, { log, outage })
  const { db } = databases.database
  const limits = createLimits({
    db,
    scale: config.rateLimitScale,
    hashKey: key('limits'),
    onTripped: (tripped) => log.warn(tripped, 'limit tripped'),
  })
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(productVersion())
  const isHttps = publicUrl?.startsWith('https:') ?? false
  const storedKey = await selectTokenKey(db)
  const sessions = createSessions({ ...config, secret, storedKey, isHttps })
  const web = await loadWebApp(options.webFolder, config)
  const headers = securityHeaders({
    isHttps,
    isPlainHttp: publicUrl?.startsWith('http:') ?? false,
    hstsSubdomains: config.hstsSubdomains,
    inlineHashes: web?.inlineHashes ?? { scripts: [], styles: [] },
  })
  const authenticator = {
    ...sessions.authenticator(db, config.contactEmail),
    isModerator: ({ userId }: { userId: string }) => isModerator(db, userId),
  }
  const live = createLive({ limits })
  const cache = createResponseCache({
    db,
    databaseUrl: databases.directUrl,
    isShared: config.databaseUrl !== undefined,
    outage,
    onChange: live.note,
    log,
    headers,
    flag: createLikeFlag(db, authenticator),
  })
  const refusals = createRefusalLog(log)
  const observe = metrics?.observe
  const fastPath = cache.fastPath({ auth: authenticator, limits, trustProxy, log, observe })
  const server = await createHttpServer({
    logger: log,
    refusals,
    noteRefused: outage.noteRefused,
    trustProxy,
    headers,
    observe,
    before: fastPath.wrap,
    insteadOfRefusal: fastPath.serveStale,
    pageNotNow: web && pageNotNow(web),
  })
  const { cookieName } = sessions
  await describeApi(server.app, { appName: config.appName, cookieName, limits })
  const folder = join(config.dataDir, 'pages')
  return {
    ...databases,
    config,
    key,
    log,
    outage,
    limits,
    metrics,
    sessions,
    authenticator,
    web,
    headers,
    cache,
    refusals,
    live,
    server,
    search: createSearch({ db, limits }),
    readText: createTexts({ ...config, folder, origin: originOf(config) }),
  }
}

function openDatabases(
  { config, databaseUrl, poolLimits }: AppOptions,
  { log, outage }: { log: FastifyBaseLogger; outage: Outage },
) {
  const onIdleError = (err: Error) => {
    if (!outage.noteFailure(err)) log.warn({ err }, 'an idle database connection broke')
  }
  // For connections that keep a state of their own: past a pooler.
  const directUrl = config.databaseDirectUrl ?? databaseUrl
  const isBehindPooler = config.databaseDirectUrl !== undefined
  const database = openDatabase(databaseUrl, onIdleError, { ...poolLimits, isBehindPooler, outage })
  // Requests cannot take the connections of jobs, and nightly jobs may read whole tables.
  const ofJobs = { ...BACKGROUND, outage, waitsDuringOutage: true }
  const background = openDatabase(directUrl, outage.noteFailure, ofJobs)
  return { directUrl, database, background }
}
