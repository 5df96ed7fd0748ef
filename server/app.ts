import { join } from 'node:path'
import { registerAccount } from './features/account/account.routes.ts'
import { registerAccountDeletion } from './features/account-deletion/account-deletion.routes.ts'
import { registerAnswers } from './features/answers/answers.routes.ts'
import { registerCodes } from './features/codes/codes.routes.ts'
import { registerDataExport } from './features/data-export/data-export.routes.ts'
import { registerLikes } from './features/likes/likes.routes.ts'
import { registerModeration } from './features/moderation/moderation.routes.ts'
import { registerMutes } from './features/mutes/mutes.routes.ts'
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
import type { Feature } from './kernel/feature.ts'
import { serveHealth } from './kernel/http/health.ts'
import type { ListenAddress } from './kernel/http/listen.ts'
import { shortenPause } from './kernel/mail/outbox.repository.ts'
import { type AppOptions, type OpenNode, openNode } from './node.ts'
import { mailBrokenBackups } from './operations/backup/backup.mail.ts'
import { watchHealth } from './operations/doctor/doctor.service.ts'
import type { Finding } from './operations/doctor/finding.ts'
import { registerIdentity } from './operations/doctor/identity.ts'
import { ListenFailure } from './operations/start/start-failure.ts'
import { servePages } from './pages/serve-pages.ts'

const CLOSE_MS = 500

/** Opens the databases and registers all routes. `listen` opens the port and starts the jobs. */
export async function createApp(options: AppOptions) {
  const node = await openNode(options)
  const { log, http, database, backgroundPool, mailPool, outage, live, server } = node
  const features = await registerAll(node)
  let isDraining = false
  serveHealth(node, () => isDraining)
  const unwatch = await watch(node)
  let jobs: Awaited<ReturnType<typeof startAllJobs>> | undefined
  return {
    http,
    async listen(address: ListenAddress): Promise<string> {
      const origin = await server
        .listen(address)
        .catch((error) => Promise.reject(new ListenFailure(error)))
      jobs = await startAllJobs(node, features)
      void shortenPause(node.background).catch((err) => log.warn({ err }, 'mails stay paused'))
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
      await withDeadline(Promise.all([node.cache.close(), ...pools]), CLOSE_MS, () => {})
    },
  }
}

async function registerAll(node: OpenNode): Promise<Feature[]> {
  const { config, requestLog, sessions } = node
  const folder = join(config.dataDir, 'pages')
  const readText = registerTexts(node, { ...config, folder, origin: originOf(config) })
  const search = registerSearch(node)
  const publish = createPublish(node)
  const features = [
    registerSignIn(node, { sessions, readText }),
    registerCodes(node, sessions),
    registerSessions(node, sessions),
    registerAccount(node, sessions),
    registerAccountDeletion(node, sessions),
    registerPosts(node, publish),
    registerAnswers(node),
    registerLikes(node),
    registerModeration(node),
    registerSiteState(node),
  ]
  registerReplies(node, publish)
  registerMutes(node)
  registerReports(node)
  registerDataExport(node)
  registerIdentity(node, () => requestLog.refusals.recent())
  await servePages({ ...node, search, readText })
  node.live.serve(node.http, node.limits)
  return features
}

async function watch(node: OpenNode): Promise<() => void> {
  const { config, background, log, database, metrics, live, shut } = node
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
