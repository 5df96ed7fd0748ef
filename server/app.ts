import { join } from 'node:path'
import { registerAccount } from './features/account/account.routes.ts'
import { registerAccountDeletion } from './features/account-deletion/account-deletion.routes.ts'
import { registerAnswers } from './features/answers/answers.routes.ts'
import { registerCodes } from './features/codes/codes.routes.ts'
import { registerDataExport } from './features/data-export/data-export.routes.ts'
import { registerLikes } from './features/likes/likes.routes.ts'
import { registerMentions } from './features/mentions/mentions.routes.ts'
import { registerModeration } from './features/moderation/moderation.routes.ts'
import { registerMutes } from './features/mutes/mutes.routes.ts'
import { registerPasskeys } from './features/passkeys/passkeys.routes.ts'
import { registerPosts } from './features/posts/posts.routes.ts'
import { createPublish } from './features/posts/publications.service.ts'
import { registerReplies } from './features/replies/replies.routes.ts'
import { registerReports } from './features/reports/reports.routes.ts'
import { registerSearch } from './features/search/search.service.ts'
import { registerSessions } from './features/sessions/sessions.routes.ts'
import { registerSignIn } from './features/sign-in/sign-in.routes.ts'
import { registerSiteState } from './features/site-state/site-state.service.ts'
import { registerTexts } from './features/texts/texts.service.ts'
import { startAllJobs } from './jobs.ts'
import { originOf } from './kernel/config/config.ts'
import { withDeadline } from './kernel/deadline.ts'
import { serveHealth } from './kernel/http/health.ts'
import type { ListenAddress } from './kernel/http/listen.ts'
import { shortenPause } from './kernel/mail/outbox.repository.ts'
import type { BackgroundWork } from './kernel/server-context.ts'
import { type AppOptions, type OpenContext, openContext } from './open-context.ts'
import { mailBrokenBackups } from './operations/backup/backup.mail.ts'
import { watchHealth } from './operations/doctor/doctor.service.ts'
import type { Finding } from './operations/doctor/finding.ts'
import { registerIdentity } from './operations/doctor/identity.ts'
import { ListenFailure } from './operations/start/start-failure.ts'
import { registerWallState } from './operations/status/wall-state.service.ts'
import { servePages } from './pages/serve-pages.ts'

const CLOSE_MS = 500

/** Opens the databases and registers all routes. `listen` opens the port and starts the jobs. */
export async function createApp(options: AppOptions) {
  const context = await openContext(options)
  const { log, http, database, backgroundPool, mailPool, outage, live, server } = context
  const features = await registerAll(context)
  let isDraining = false
  serveHealth(context, () => isDraining)
  const unwatch = await startWatching(context)
  let jobs: Awaited<ReturnType<typeof startAllJobs>> | undefined
  return {
    http,
    async listen(address: ListenAddress): Promise<string> {
      const origin = await server
        .listen(address)
        .catch((error) => Promise.reject(new ListenFailure(error)))
      jobs = await startAllJobs(context, features)
      void shortenPause(context.background).catch((err) => log.warn({ err }, 'mails stay paused'))
      return origin
    },
    database,
    drain(): void {
      isDraining = true
      live.close()
    },
    /** Finishes requests and jobs. Connections used within `graceMs` may send one more request. */
    async close(graceMs = 0): Promise<void> {
      unwatch()
      live.close()
      outage.close()
      await Promise.all([server.stop(graceMs), jobs?.stop()])
      const pools = [database, backgroundPool, mailPool].map((pool) => pool.close())
      await withDeadline(Promise.all([context.cache.close(), ...pools]), CLOSE_MS, () => {})
    },
  }
}

async function registerAll(context: OpenContext): Promise<BackgroundWork[]> {
  const { config, requestLog, sessions } = context
  const folder = join(config.dataDir, 'pages')
  const readText = registerTexts(context, { ...config, folder, origin: originOf(config) })
  const search = registerSearch(context)
  const publish = createPublish(context)
  const features = [
    registerSignIn(context, { sessions, readText }),
    registerCodes(context, sessions),
    registerSessions(context, sessions),
    registerAccount(context, sessions),
    registerAccountDeletion(context, sessions),
    registerPasskeys(context, sessions),
    registerPosts(context, publish),
    registerAnswers(context),
    registerLikes(context),
    registerModeration(context),
    registerMutes(context),
    registerSiteState(context),
  ]
  registerReplies(context, publish)
  registerMentions(context)
  registerReports(context)
  registerDataExport(context)
  registerWallState(context)
  registerIdentity(context, () => requestLog.refusals.recent())
  await servePages({ ...context, search, readText })
  context.live.serve(context.http, context.limits)
  return features
}

async function startWatching(context: OpenContext): Promise<() => void> {
  const { config, background, log, database, metrics, live, shut } = context
  const { metricsPort: port, metricsHost: host, dataDir, backupDir } = config
  const onBroken = (finding: Finding) => mailBrokenBackups(background, finding, config)
  const stops = [shut.watch(), watchHealth({ db: background, config }, { log, onBroken })]
  if (metrics && port !== undefined) {
    const sources = {
      log,
      database,
      dataDir,
      countStreams: () => live.streams.size,
      isBackedUpNightly: backupDir !== undefined,
    }
    stops.push(await metrics.serve({ port, host }, sources))
  }
  return () => {
    for (const stop of stops) stop()
  }
}
