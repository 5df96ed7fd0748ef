import type { FastifyInstance } from 'fastify'
import { type AppOptions, createParts, type Parts } from './app-parts.ts'
import { registerAccount } from './features/account/account.routes.ts'
import { registerAccountDeletion } from './features/account-deletion/account-deletion.routes.ts'
import { registerCodes } from './features/codes/codes.routes.ts'
import { registerDataExport } from './features/data-export/data-export.routes.ts'
import { type LikesQuestion, selectLiked } from './features/likes/likes.repository.ts'
import { registerLikes } from './features/likes/likes.routes.ts'
import { registerModeration } from './features/moderation/moderation.routes.ts'
import { isModerator } from './features/moderation/moderators.repository.ts'
import { registerPosts } from './features/posts/posts.routes.ts'
import { createPublish } from './features/posts/publications.service.ts'
import { createVisitorReads } from './features/posts/visitor-reads.ts'
import { registerReplies } from './features/replies/replies.routes.ts'
import { isReported } from './features/reports/reports.repository.ts'
import { registerReports } from './features/reports/reports.routes.ts'
import { registerSessions } from './features/sessions/sessions.routes.ts'
import { registerSignIn } from './features/sign-in/sign-in.routes.ts'
import { createSiteStateReader } from './features/site-state/site-state.service.ts'
import { registerTexts } from './features/texts/texts.routes.ts'
import { createResponseCache, type ResponseCache } from './kernel/cache/response-cache.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import { originOf } from './kernel/config/config.ts'
import { batchCalls } from './kernel/db/batch-calls.ts'
import type { OpenDatabase } from './kernel/db/database.ts'
import { withDeadline } from './kernel/db/deadline.ts'
import { quietDuringOutages } from './kernel/db/outage.ts'
import type { Authenticator } from './kernel/http/authenticate.ts'
import { securityHeaders } from './kernel/http/headers.ts'
import { serveHealth } from './kernel/http/health.ts'
import type { ListenAddress } from './kernel/http/listen.ts'
import { describeApi } from './kernel/http/openapi.ts'
import { createRouter, type Route } from './kernel/http/route.ts'
import { createHttpServer } from './kernel/http/server.ts'
import { createAccessJournal } from './kernel/journal/access-journal.ts'
import { shortenPause } from './kernel/mail/login-pause.repository.ts'
import { limitMailsPerHour } from './kernel/mail/mails-per-hour.ts'
import { servePages } from './kernel/pages/serve-pages.ts'
import { startJobs } from './kernel/queue/queue.ts'
import { IDENTITY_KEY } from './operations/doctor/doctor.service.ts'
import { registerIdentity } from './operations/doctor/identity.routes.ts'
import { createTasks, recurringJobs } from './tasks.ts'
import { watchWall } from './watching.ts'

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
  const parts = await createParts(options)
  const { config, database, background, db, log, limits, metrics, outage, secret } = parts
  const { app: http, listen, stop, cache, headers } = await createHttp(parts)
  const route = createRouter(http, { auth: createAuthenticator(parts), limits, cache })
  registerFeatures(route, parts, cache)
  const { appName } = config
  registerTexts({ route, readText: parts.readText })
  const key = deriveKey(secret, 'downloads')
  registerDataExport({ route, http, db: background.db, limits, appName, key })
  let isDraining = false
  serveHealth(http, {
    db,
    databaseFolder: config.databaseUrl === undefined ? config.dataDir : undefined,
    isDraining: () => isDraining,
  })
  const { cookieName } = parts.sessions
  await servePages(http, {
    ...{ web: parts.web, cache, limits, cookieName, headers, appName },
    origin: originOf(config),
    noteRefused: outage.noteRefused,
    reads: {
      ...createVisitorReads(db, parts.runRead),
      readText: parts.readText,
      readSiteState: createSiteStateReader(db),
    },
  })
  registerIdentity(http, {
    key: deriveKey(secret, IDENTITY_KEY),
    trustProxy: config.trustProxy,
  })
  const unwatch = await watchWall({ config, database, background, metrics, log })
  const jobs = await startJobs(background.pool, {
    tasks: createTasks({
      ...parts,
      settleMs: options.settleMs,
      backgroundDb: background.db,
      chargeMail: limitMailsPerHour({
        pool: database.pool,
        most: config.mailsPerHour,
        onTripped: () => log.warn({ limit: 'MAILS_PER_HOUR' }, 'limit tripped'),
      }),
      transport: metrics?.countMails(options.transport) ?? options.transport,
      invalidate: () => cache.publishChange('posts'),
    }),
    recurring: recurringJobs(config),
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
        ...[database, background, parts.replica].map((pool) => pool?.close()),
      ])
      await withDeadline(closed, CLOSE_MS, () => {})
    },
  }
}

const CLOSE_MS = 500

/** Makes the HTTP server with its documentation, and the cache that answers visitors before it. */
async function createHttp(parts: Parts) {
  const { config, directUrl, db, replica, outage, log } = parts
  const { limits, sessions, refusals, web, metrics, isHttps } = parts
  const { trustProxy } = config
  const headers = securityHeaders({
    isHttps,
    hstsSubdomains: config.hstsSubdomains,
    inlineHashes: web?.inlineHashes ?? { scripts: [], styles: [] },
  })
  const likedBy = batchCalls((questions: LikesQuestion[]) => selectLiked(db, questions))
  const cache = createResponseCache({
    db,
    databaseUrl: directUrl,
    isShared: config.databaseUrl !== undefined,
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
    insteadOfRefusal: fastPath.serveStale,
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
  const { config, db, runRead, limits, sessions, codeKey, undoKey, nameKey } = parts
  const { publicUrl, editPeriodSeconds, removedDays, moderatorEmail } = config
  const codes = { key: codeKey, ttlSeconds: config.codeTtlSeconds, limits }
  const invalidate = () => cache.publishChange('posts')
  const noteAccess = createAccessJournal(config.accessJournalDays)
  registerSignIn({ route, db, limits, sessions, codes, publicUrl, nameKey, invalidate, noteAccess })
  registerCodes({ route, db, sessions })
  registerSessions({ route, db, limits, sessions, publicUrl })
  registerAccount({ route, db, limits, sessions, codes, undoKey, nameKey, invalidate })
  registerAccountDeletion({ route, db, limits, sessions, codes, invalidate, noteAccess })
  const { publishChange } = cache
  const publish = createPublish({ db, limits, publishChange, noteAccess })
  const posts = { route, db, runRead, limits, publish, publishChange, noteAccess }
  registerPosts({ ...posts, editPeriodSeconds, removedDays, isEvidence: isReported })
  registerReplies({ route, db, runRead, publish })
  registerLikes({ route, db, limits })
  registerReports({ route, db, limits, rules: config, invalidate })
  registerModeration({ route, db, limits, removedDays, moderatorEmail, invalidate })
}
