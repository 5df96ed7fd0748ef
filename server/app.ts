import { join } from 'node:path'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { postIdsOf } from '../contract/post-rules.ts'
import type { Post, PostPage } from '../contract/posts.ts'
import { accountMails } from './features/account/account.mail.ts'
import { removeExpiredAccountRows } from './features/account/account.repository.ts'
import { registerAccount } from './features/account/account.routes.ts'
import { requireProfile } from './features/account/account.service.ts'
import { accountDeletionMails } from './features/account-deletion/account-deletion.mail.ts'
import { registerAccountDeletion } from './features/account-deletion/account-deletion.routes.ts'
import { deletionFolders } from './features/account-deletion/deletion-list.service.ts'
import { accountDeletionJobs } from './features/account-deletion/move-accounts.task.ts'
import { answerMails } from './features/answers/answers.mail.ts'
import { registerAnswers } from './features/answers/answers.routes.ts'
import { answerJobs } from './features/answers/answers.task.ts'
import { codeMails } from './features/codes/codes.mail.ts'
import { removeExpiredOperations } from './features/codes/codes.repository.ts'
import { registerCodes } from './features/codes/codes.routes.ts'
import { registerDataExport } from './features/data-export/data-export.routes.ts'
import { registerLikes } from './features/likes/likes.routes.ts'
import { likeJobs } from './features/likes/likes.task.ts'
import { removeExpiredBlocks } from './features/moderation/blocks.repository.ts'
import { purgeExpiredPosts } from './features/moderation/hiding.service.ts'
import { moderationMails } from './features/moderation/moderation.mail.ts'
import { registerModeration } from './features/moderation/moderation.routes.ts'
import { moderationJobs } from './features/moderation/moderation.task.ts'
import { isModerator } from './features/moderation/moderators.repository.ts'
import { countWaiting } from './features/moderation/queue.repository.ts'
import { removeOldReports } from './features/moderation/report-states.repository.ts'
import { registerMutes } from './features/mutes/mutes.routes.ts'
import { counterJobs } from './features/posts/counters.task.ts'
import { postIdOf } from './features/posts/post-id-of.ts'
import { registerPosts } from './features/posts/posts.routes.ts'
import { removeOldKeys } from './features/posts/publications.repository.ts'
import { createPublish } from './features/posts/publications.service.ts'
import { createVisitorReads } from './features/posts/visitor-reads.ts'
import { registerReplies } from './features/replies/replies.routes.ts'
import { isReported } from './features/reports/reports.repository.ts'
import { registerReports } from './features/reports/reports.routes.ts'
import { registerSearch } from './features/search/search.routes.ts'
import { createSearch } from './features/search/search.service.ts'
import { searchJobs } from './features/search/search.task.ts'
import { removeOldClients } from './features/sessions/known-clients.repository.ts'
import { removeExpiredSessions } from './features/sessions/sessions.repository.ts'
import { registerSessions } from './features/sessions/sessions.routes.ts'
import { createSessions } from './features/sessions/sessions.service.ts'
import { signInMails } from './features/sign-in/sign-in.mail.ts'
import { registerSignIn } from './features/sign-in/sign-in.routes.ts'
import { mailNameMails } from './features/site-state/mail-name.mail.ts'
import { areNewAddressesSlowed } from './features/site-state/mail-name.service.ts'
import { removeExpiredSiteRows } from './features/site-state/site-state.repository.ts'
import { createSiteStateReader } from './features/site-state/site-state.service.ts'
import { registerTexts } from './features/texts/texts.routes.ts'
import { createTexts } from './features/texts/texts.service.ts'
import { removeOldChanges } from './kernel/cache/posts-state.ts'
import { createResponseCache } from './kernel/cache/response-cache.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import { type Config, originOf } from './kernel/config/config.ts'
import { databaseTime, watchClock } from './kernel/db/clock.ts'
import { type Db, type OpenDatabase, openDatabase, type PoolLimits } from './kernel/db/database.ts'
import { withDeadline } from './kernel/db/deadline.ts'
import { productVersion } from './kernel/db/migrate.ts'
import { type Outage, quietDuringOutages, watchOutages } from './kernel/db/outage.ts'
import { openReplica } from './kernel/db/replica.ts'
import { createSteadyClock } from './kernel/db/steady-clock.ts'
import { securityHeaders } from './kernel/http/headers.ts'
import { serveHealth } from './kernel/http/health.ts'
import type { ListenAddress } from './kernel/http/listen.ts'
import { describeApi } from './kernel/http/openapi.ts'
import { createRefusalLog } from './kernel/http/refusal-log.ts'
import { hashAddresses } from './kernel/http/request-log.ts'
import { createRouter, type Route } from './kernel/http/route.ts'
import { createHttpServer } from './kernel/http/server.ts'
import { createAccessJournal, removeOldAccesses } from './kernel/journal/access-journal.ts'
import { countHashed, removeExpiredLimits } from './kernel/limits/gcra.repository.ts'
import { createLimits, logTripped } from './kernel/limits/rate-limits.ts'
import { createLive } from './kernel/live/live.ts'
import { shortenPause } from './kernel/mail/login-pause.repository.ts'
import { MAIL_LOG_KEY, removeOldMailEntries } from './kernel/mail/mail-log.repository.ts'
import { limitMailsPerHour } from './kernel/mail/mails-per-hour.ts'
import { removeOldMails } from './kernel/mail/old-mails.ts'
import { mailJobs } from './kernel/mail/send-mails.ts'
import type { MailTransport } from './kernel/mail/transport.ts'
import { pageNotNow, servePages } from './kernel/pages/serve-pages.ts'
import { loadWebApp } from './kernel/pages/web-app.ts'
import { type Jobs, startJobs } from './kernel/queue/queue.ts'
import { selectBackupState } from './operations/backup/backup-state.repository.ts'
import { backupJobs } from './operations/backup/nightly-backup.task.ts'
import { IDENTITY_KEY, watchHealth } from './operations/doctor/doctor.service.ts'
import { readWallHealth } from './operations/doctor/health.service.ts'
import { registerIdentity } from './operations/doctor/identity.routes.ts'
import { createMetrics } from './operations/metrics/metrics.ts'
import { storeCounterCheck } from './operations/status/status.repository.ts'

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

/** The pool of jobs. */
export const BACKGROUND = {
  connections: 5,
  statementTimeoutMs: 3_600_000,
  applicationName: 'vslukh jobs',
}
const CLOSE_MS = 500

/**
 * Builds the product on a migrated database: routes, pages and jobs. It listens when `listen` is
 * called.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const node = await createNode(options)
  const { config, database, background, replica, outage, log, refusals, cache, server } = node
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
    reads: {
      ...createVisitorReads(database.db, node.runRead),
      readText: node.readText,
      readProfile: (username) => requireProfile(database.db, username),
      search: node.search,
      readSiteState: createSiteStateReader(database.db),
    },
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
      const pools = [database, background, replica].map((pool) => pool?.close())
      await withDeadline(Promise.all([cache.close(), ...pools]), CLOSE_MS, () => {})
    },
  }
}

/** What features, pages and jobs of one node are built on. */
type Node = Awaited<ReturnType<typeof createNode>>

async function createNode(options: AppOptions) {
  const { config, secret } = options
  const { trustProxy, publicUrl } = config
  const key = (purpose: string) => deriveKey(secret, purpose)
  const log = hashAddresses(options.log, key('log'))
  const outage = watchOutages({ url: options.databaseUrl, log })
  const databases = openDatabases(options, { log, outage })
  const { db, pool } = databases.database
  const limits = createLimits(config.rateLimitScale, countHashed(pool, key('limits')))
  logTripped(limits, log)
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(productVersion())
  const isHttps = publicUrl?.startsWith('https:') ?? false
  const sessions = createSessions({ ...config, secret, isHttps })
  const web = await loadWebApp(options.webFolder, config)
  const headers = securityHeaders({
    isHttps,
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
    replica: databases.replica,
    onChange: live.note,
    log,
    headers,
    flag: {
      name: 'is_liked',
      postIdsOf: (answer) => postIdsOf(answer as Post | PostPage),
      trueFor: authenticator.findLikedPosts,
    },
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
  await describeApi(server.app, { appName: config.appName, cookieName, limit: limits.pageFiles })
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
    runRead: cache.runRead,
    /** Invalidates cached reads on every node. */
    invalidate: () => cache.publishChange('posts'),
    refusals,
    live,
    server,
    search: createSearch({ runRead: cache.runRead, limits }),
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
  const url = config.databaseReplicaUrl
  const replica = url === undefined ? undefined : openReplica(url)
  return { directUrl, database, background, replica }
}

/** Lists the routes of every feature. */
function registerFeatures(route: Route, node: Node, { lockWaitMs }: AppOptions): void {
  const { config, limits, sessions, runRead, readText, server, key, cache, invalidate } = node
  const { db } = node.database
  const { publicUrl, appName, removedDays, moderatorEmails } = config
  const [undoKey, nameKey] = [key('email-undo'), key('usernames')]
  const codes = { key: key('codes'), ttlSeconds: config.codeTtlSeconds, limits }
  const { publishChange } = cache
  const noteAccess = createAccessJournal(config.accessJournalDays)
  registerSignIn({ route, db, limits, sessions, codes, publicUrl, nameKey, invalidate, noteAccess })
  registerCodes({ route, db, sessions })
  registerSessions({ route, db, limits, sessions, publicUrl })
  registerAccount({ route, db, limits, sessions, codes, undoKey, nameKey, invalidate })
  registerAccountDeletion({ route, db, limits, sessions, codes, invalidate, noteAccess })
  const publish = createPublish({ db, limits, publishChange, noteAccess, lockWaitMs })
  const posts = { route, db, runRead, limits, publish, publishChange, noteAccess }
  const { editPeriodSeconds } = config
  registerPosts({ ...posts, editPeriodSeconds, removedDays, isEvidence: isReported })
  registerReplies({ route, runRead, publish })
  const unsubscribeKey = key('unsubscribe')
  registerAnswers({ route, http: server.app, db, runRead, limits, unsubscribeKey })
  registerSearch({ route, search: node.search })
  registerMutes({ route, db })
  registerLikes({ route, db, limits })
  registerReports({ route, db, limits, rules: config, invalidate })
  registerModeration({ route, db, limits, removedDays, moderatorEmails, invalidate })
  registerTexts({ route, readText })
  const downloads = { db: node.background.db, appName, key: key('downloads') }
  registerDataExport({ route, http: server.app, limits, ...downloads })
}

/** The name of a kind of mail. */
export type MailTask = keyof ReturnType<typeof mailsOf>

/** Lists the mails of every feature. */
function mailsOf({ config, key, database: { db } }: Node) {
  const { appName, contactEmail: contact, codeTtlSeconds: ttlSeconds } = config
  const words = { appName, origin: originOf(config), contact }
  const { moderatorEmails } = config
  const operatorEmails = moderatorEmails.length > 0 || !contact ? moderatorEmails : [contact]
  return {
    ...codeMails({ ...words, key: key('codes'), ttlSeconds, operatorEmails }),
    ...signInMails(words),
    ...accountMails({ ...words, undoKey: key('email-undo') }),
    ...accountDeletionMails(words),
    ...moderationMails(db, words),
    ...mailNameMails(db, words),
    ...answerMails(db, { ...words, unsubscribeKey: key('unsubscribe') }),
  }
}

/** Lists what removes rows whose time is up. */
const PRUNING: ((db: Db) => Promise<unknown>)[] = [
  removeExpiredOperations,
  removeExpiredAccountRows,
  removeExpiredSessions,
  removeOldClients,
  removeExpiredSiteRows,
  removeExpiredLimits,
  removeOldMailEntries,
  removeOldKeys,
  removeExpiredBlocks,
  removeOldReports,
  purgeExpiredPosts,
  removeOldChanges,
]

/** Jobs of the release before that may still wait in the queue. The next release drops these. */
const ENDED_JOBS = ['release-mails', 'remove-likes', 'restore-posts']

/** Lists the jobs of every feature. */
function jobsOf(node: Node, { secret, transport, settleMs }: AppOptions): Jobs {
  const { config, key, log, outage, directUrl, metrics, database, invalidate } = node
  const { backupDir, moderatorEmails, reportsToHide, dataDir } = config
  const { db, pool } = database
  const background = node.background.db
  const nameKey = key('usernames')
  const mayErase = createSteadyClock({ readTime: () => databaseTime(background), log, settleMs })
  const charge = limitMailsPerHour({
    pool,
    most: config.mailsPerHour,
    isSlowed: () => areNewAddressesSlowed(db),
    onTripped: () => log.warn({ limit: 'MAILS_PER_HOUR' }, 'limit tripped'),
  })
  const backups = {
    db: background,
    url: directUrl,
    dataDir,
    keep: config.backupKeep,
    command: config.backupCommand,
    secret,
    log,
  }
  return {
    ...mailJobs({
      db,
      kinds: mailsOf(node),
      transport: metrics?.countMails(transport) ?? transport,
      charge,
      logKey: key(MAIL_LOG_KEY),
      log: quietDuringOutages(log, outage),
      outage,
    }),
    ...likeJobs(background),
    ...answerJobs(background),
    ...searchJobs(background),
    ...moderationJobs({ db, background, nameKey, moderatorEmails, reportsToHide, invalidate }),
    ...accountDeletionJobs(background, {
      folders: deletionFolders(config),
      nameKey,
      mayErase,
      invalidate,
      log,
    }),
    ...counterJobs(background, { log, storeResult: (n) => storeCounterCheck(background, n) }),
    ...(backupDir !== undefined && backupJobs(config.backupAt, { ...backups, folder: backupDir })),
    'remove-expired': {
      everyMinutes: 60,
      atMinute: 17,
      async run() {
        if (await mayErase()) for (const prune of PRUNING) await prune(background)
      },
    },
    'remove-old-traces': {
      everyMinutes: 60,
      atMinute: 27,
      async run() {
        if (!(await mayErase())) return
        await removeOldMails(join(dataDir, 'mail'))
        await removeOldAccesses(background, config.accessJournalDays)
      },
    },
    ...Object.fromEntries(ENDED_JOBS.map((name) => [name, { run: async () => {} }])),
  }
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
