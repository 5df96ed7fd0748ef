// Comes first: libraries that are loaded after it read the current folder and the home.
import './operations/start/caller-folder.ts'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from './app.ts'
import { type Config, readConfig, usesDataDir } from './kernel/config/config.ts'
import { ConfigError } from './kernel/config/config-reader.ts'
import { migrate } from './kernel/db/migrate.ts'
import { keepRestoresAway } from './kernel/db/restore-lock.ts'
import { exitProcess } from './kernel/disk/disk.ts'
import { createLineWriter, createLogger } from './kernel/log/logger.ts'
import { openMailTransport } from './kernel/mail/transport.ts'
import { makeBackupFolder } from './operations/backup/backup-folder.ts'
import { startEmbeddedPostgres } from './operations/embedded-postgres/embedded-postgres.ts'
import { callerFolder } from './operations/start/caller-folder.ts'
import { makeDataDir, writeReadMe } from './operations/start/data-dir.ts'
import {
  refuseLostDatabase,
  requireConnections,
  requireSuitableDatabase,
  requireWallSecret,
} from './operations/start/installation.ts'
import { explainStartFailure } from './operations/start/start-failure.ts'

const STOP_MS = 9500
/** EX_CONFIG of sysexits.h, by which bin/switch-release knows that a retry would not help. */
const WRONG_SETTING = 78
const GRACE_MS = 1000
const WEB_FOLDER = join(import.meta.dirname, '../dist/web')

const terminal = createLineWriter(process.stdout)
const say = (line: string) => terminal.write(`${line}\n`)

const running = new AsyncDisposableStack()
let disposing: Promise<void> | undefined
const stopping = new AbortController()
/** How long a stopping server still serves: 0 until it listens. */
let drainSeconds = 0

// SIGHUP comes when the terminal is closed.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
const starting = start()
await starting.catch(async (error) => {
  // `stop` cleans up after a start that it has aborted.
  if (stopping.signal.aborted) return
  await disposeOfAll()
  const code = error instanceof ConfigError ? WRONG_SETTING : 1
  process.stderr.write(`${explainStartFailure(error)}\n`, () => exitProcess(code))
})

/** Starts the server. Each started part adds its stop to `running`, which runs them in reverse. */
async function start(): Promise<void> {
  const config = readConfig(process.env, callerFolder)
  const log = createLogger(config.logLevel)
  say(`${config.appName}: запускаемся…`)
  for (const { message, fix } of config.warnings) say(`Внимание: ${message}. ${fix}.`)

  if (usesDataDir(config)) await makeDataDir(config.dataDir)
  const databaseUrl = config.databaseUrl ?? (await startDatabase(config))
  stopping.signal.throwIfAborted()
  const directUrl = config.databaseDirectUrl ?? databaseUrl
  await requireSuitableDatabase(directUrl)
  const connections = await requireConnections(directUrl, say)
  stopping.signal.throwIfAborted()
  await using _held = await keepRestoresAway(directUrl)
  const isAgreed = process.argv.includes('--yes')
  await migrate(directUrl, { say, signal: stopping.signal, isAgreed })
  stopping.signal.throwIfAborted()
  if (config.databaseUrl === undefined) await writeReadMe(config.dataDir)
  if (config.backupDir !== undefined) {
    await makeBackupFolder(config.backupDir, config.dataDir).catch((err) => {
      log.error({ err }, 'no nightly backup can be made')
      say(`Ночных копий не будет. ${err.message}`)
    })
  }
  const secret = await requireWallSecret(directUrl, config, say)
  stopping.signal.throwIfAborted()

  const transport = await openMailTransport(config, say)
  const app = await createApp({
    config,
    databaseUrl,
    connections,
    secret,
    transport,
    log,
    webFolder: WEB_FOLDER,
  })
  running.defer(() => app.close(GRACE_MS))
  stopping.signal.throwIfAborted()
  const address = await app.listen({ port: config.port, host: config.host })

  drainSeconds = config.drainSeconds
  running.defer(async () => {
    app.drain()
    await delay(drainSeconds * 1000)
  })

  say(`Письма: ${transport.destination}`)
  say(`Готово: ${config.publicUrl ?? address}`)
}

async function startDatabase(config: Config): Promise<string> {
  const { dataDir } = config
  await refuseLostDatabase(config)
  const postgres = await startEmbeddedPostgres({ dataDir, say, signal: stopping.signal })
  running.defer(() => postgres.stop())
  say('База данных: встроенный PostgreSQL. Он для проб, система его не обновляет')
  return postgres.connectionString
}

function stop(): void {
  if (stopping.signal.aborted) return
  stopping.abort()
  say('Останавливаемся…')
  // Ends the process if a part does not stop.
  setTimeout(() => exitProcess(1), drainSeconds * 1000 + STOP_MS)
  // A part that is still starting can be stopped only once it has started.
  void Promise.allSettled([starting])
    .then(() => Promise.allSettled([disposeOfAll()]))
    .then(() => {
      say('Остановлено.')
      // A connection to a silent SMTP server would keep the process alive.
      exitProcess(0)
    })
}

function disposeOfAll(): Promise<void> {
  disposing ??= running.disposeAsync()
  return disposing
}
