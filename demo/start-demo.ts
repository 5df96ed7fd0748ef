import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../server/app.ts'
import { selectTokenKey } from '../server/features/sessions/sessions.repository.ts'
import { Sessions } from '../server/features/sessions/sessions.service.ts'
import { readConfig } from '../server/kernel/config/config.ts'
import { withStartDatabase } from '../server/kernel/db/database.ts'
import { migrate } from '../server/kernel/db/migrate.ts'
import { createLogger } from '../server/kernel/log/logger.ts'
import { openMailTransport } from '../server/kernel/mail/transport.ts'
import { startEmbeddedPostgres } from '../server/operations/embedded-postgres/embedded-postgres.ts'
import { requireWallSecret } from '../server/operations/start/installation.ts'
import { fillWall } from './fill-wall.ts'
import { openOtherSessions, serveSignInLink } from './sign-in-link.ts'
import { VIEWER } from './wall-post.ts'

const WEB_FOLDER = join(import.meta.dirname, '../dist/web')

type Options = {
  port: string | undefined
  say: (line: string) => void
  /** Aborting it undoes the start, which then rejects. */
  signal?: AbortSignal
}

/** Starts the product on a wall of its own in a temporary folder, which `stop` removes. */
export async function startDemo({ port, say, signal = new AbortController().signal }: Options) {
  await using started = new AsyncDisposableStack()
  const { path: dataDir } = started.use(await mkdtempDisposable(join(tmpdir(), 'vslukh-demo-')))
  const config = configOf(dataDir, port)
  const postgres = await startEmbeddedPostgres({ dataDir, say, signal })
  started.defer(() => postgres.stop())
  const { connectionString: databaseUrl } = postgres
  await migrate(databaseUrl, { signal })
  const secret = await requireWallSecret(databaseUrl, config, say)
  // Without the product's timeouts: a slow machine fills the wall slowly.
  const { sessions, userId } = await withStartDatabase(databaseUrl, async ({ db }) => {
    const storedKey = await selectTokenKey(db)
    const sessions = new Sessions({ ...config, secret, storedKey })
    const now = new Date()
    const userId = (await fillWall(db, now)).get(VIEWER) ?? ''
    await openOtherSessions({ db, sessions, userId }, now)
    return { sessions, userId }
  })
  signal.throwIfAborted()
  const app = await createApp({
    config,
    databaseUrl,
    secret,
    transport: await openMailTransport(config, say),
    log: createLogger(config.logLevel),
    webFolder: WEB_FOLDER,
  })
  started.defer(() => app.close())
  const signInPath = serveSignInLink(app.http, { db: app.database.db, sessions, userId })
  await app.listen(config)
  const running = started.move()
  const url = `http://${config.host}:${config.port}`
  return {
    url,
    signInUrl: url + signInPath,
    dataDir,
    databaseUrl,
    stop: () => running.disposeAsync(),
  }
}

/**
 * Takes only PORT from the environment, so that the demo never reaches a real wall. A service worker
 * would show the wall of an earlier demo. Without PUBLIC_URL it can be opened at `localhost` too,
 * where there are passkeys.
 */
function configOf(dataDir: string, port = '3001') {
  return readConfig({
    PORT: port,
    DATA_DIR: dataDir,
    SERVICE_WORKER: 'off',
    LOG_LEVEL: 'warn',
    OPERATOR_NAME: 'вымышленный хозяин демонстрации',
    CONTACT_EMAIL: 'demo@example.org',
  })
}
