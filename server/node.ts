import type { FastifyBaseLogger } from 'fastify'
import { postIdOf } from '../contract/posts.ts'
import { createLikeFlag } from './features/likes/likes.service.ts'
import { isModerator } from './features/moderation/moderators.repository.ts'
import { selectTokenKey } from './features/sessions/sessions.repository.ts'
import { Sessions } from './features/sessions/sessions.service.ts'
import { ShutNetworks } from './features/site-state/shut-networks.ts'
import { ChangeFeed } from './kernel/cache/change-feed.ts'
import { ResponseCache } from './kernel/cache/response-cache.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import type { Config } from './kernel/config/config.ts'
import { createSteadyClock, databaseTime } from './kernel/db/clock.ts'
import { openDatabase, type PoolLimits } from './kernel/db/database.ts'
import { productVersion } from './kernel/db/migrate.ts'
import { Outage } from './kernel/db/outage.ts'
import type { Node } from './kernel/feature.ts'
import { securityHeaders } from './kernel/http/headers.ts'
import { describeApi } from './kernel/http/openapi.ts'
import { hashAddresses } from './kernel/http/request-log.ts'
import { createRouter } from './kernel/http/route.ts'
import { HttpServer } from './kernel/http/server.ts'
import { createAccessJournal } from './kernel/journal/journal.ts'
import { Limits } from './kernel/limits/limits.ts'
import { Live } from './kernel/live/live.ts'
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
  webFolder: string
  poolLimits?: PoolLimits | undefined
  /** See `RouterOptions.handleMs`. */
  handleMs?: number | undefined
  /** How long publications that share a statement wait for a lock; see `createPublish`. */
  lockWaitMs?: number | undefined
  /** How long the clock must have run evenly before anything is erased for good. */
  settleMs?: number | undefined
}

export const BACKGROUND = {
  connections: 5,
  statementTimeoutMs: 3_600_000,
  applicationName: 'vslukh jobs',
}

export type OpenNode = Awaited<ReturnType<typeof openNode>>

/** Builds what features, pages and jobs share, and serves. */
export async function openNode(options: AppOptions) {
  const base = await openBase(options)
  const served = await openHttp(base)
  const { authenticator, background, config, db, key, limits, log, metrics, transport } = base
  const { app } = served.server
  const node: Node = {
    config,
    key,
    log,
    db,
    background,
    http: app,
    route: createRouter(app, {
      auth: authenticator,
      limits,
      cache: served.cache,
      postIdOf,
      handleMs: options.handleMs,
    }),
    limits,
    publishChange: served.cache.publishChange,
    noteAccess: createAccessJournal(config.accessJournalDays),
    mail: metrics?.countMails(transport) ?? transport,
    mayErase: createSteadyClock({
      readTime: () => databaseTime(background),
      log,
      settleMs: options.settleMs,
    }),
  }
  return { ...base, ...served, node }
}

type Base = Awaited<ReturnType<typeof openBase>>

async function openBase(options: AppOptions) {
  const { config, secret } = options
  const key = (purpose: string) => deriveKey(secret, purpose)
  const log = hashAddresses(options.log)
  const outage = new Outage({ url: options.databaseUrl, log })
  const databases = openDatabases(options, { log, outage })
  const { db } = databases.database
  const limits = new Limits({
    db,
    scale: config.rateLimitScale,
    hashKey: key('limits'),
    onTripped: (tripped) => log.warn(tripped, 'limit tripped'),
  })
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(productVersion())
  const isHttps = config.publicUrl?.startsWith('https:') ?? false
  const storedKey = await selectTokenKey(db)
  const sessions = new Sessions({ ...config, secret, storedKey, isHttps })
  const authenticator = sessions.authenticator(db, {
    contact: config.contactEmail,
    isModerator: ({ userId }) => isModerator(db, userId),
  })
  const background = databases.backgroundPool.db
  return {
    ...options,
    ...databases,
    authenticator,
    background,
    db,
    key,
    limits,
    log,
    metrics,
    outage,
    sessions,
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
  const backgroundPool = openDatabase(directUrl, outage.noteFailure, ofJobs)
  return { directUrl, database, backgroundPool }
}

/** Builds the HTTP server with the cache, the live streams and the web app. */
async function openHttp(base: Base) {
  const { authenticator, config, db, limits, log, metrics, outage } = base
  const { trustProxy, publicUrl } = config
  const web = await loadWebApp(base.webFolder, config)
  const headers = securityHeaders({
    isHttps: publicUrl?.startsWith('https:') ?? false,
    isPlainHttp: publicUrl?.startsWith('http:') ?? false,
    hstsSubdomains: config.hstsSubdomains,
    inlineHashes: web?.inlineHashes ?? { scripts: [], styles: [] },
  })
  const live = new Live(limits)
  const shut = new ShutNetworks(base.background)
  const isShared = config.databaseUrl !== undefined
  const cache = new ResponseCache({
    openFeed: (events) => new ChangeFeed(db, { url: base.directUrl, isShared, outage, ...events }),
    outage,
    onChange(change) {
      live.note(change)
      shut.note(change)
    },
    log,
    headers,
    flag: createLikeFlag(db, authenticator),
  })
  const observe = metrics?.observe
  const fastPath = cache.fastPath({ auth: authenticator, limits, trustProxy, log, observe })
  const server = new HttpServer({
    logger: log,
    noteRefused: outage.noteRefused,
    trustProxy,
    shut,
    headers,
    observe,
    fastPath,
    pageNotNow: web && pageNotNow(web),
  })
  const { cookieName } = base.sessions
  await describeApi(server.app, { appName: config.appName, cookieName, limits })
  return { web, headers, live, cache, server, shut }
}
