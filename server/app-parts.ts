import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import { createSessions, type Sessions } from './features/sessions/sessions.service.ts'
import { createTexts, type ReadText } from './features/texts/texts.service.ts'
import { deriveKey } from './kernel/config/app-secret.ts'
import { type Config, originOf } from './kernel/config/config.ts'
import { type OpenDatabase, openDatabase, type PoolLimits } from './kernel/db/database.ts'
import { productVersion } from './kernel/db/migrate.ts'
import { type Outage, watchOutages } from './kernel/db/outage.ts'
import { openReplica, type Replica, type RunRead } from './kernel/db/replica.ts'
import { createRefusalLog } from './kernel/http/refusal-log.ts'
import { hashAddresses } from './kernel/http/request-log.ts'
import { countHashed } from './kernel/limits/gcra.repository.ts'
import { createLimits, type Limits, logTripped } from './kernel/limits/rate-limits.ts'
import type { MailTransport } from './kernel/mail/transport.ts'
import { loadWebApp, type WebApp } from './kernel/pages/web-app.ts'
import { createMetrics, type Metrics } from './operations/metrics/metrics.ts'

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
  /** For how long the clock must have run evenly before anything is erased for good, in milliseconds; an hour unless set. */
  settleMs?: number | undefined
}

/** What the server, the features and the jobs of one node are built from. */
export type Parts = {
  config: Config
  /** URL of the database for connections that keep a state of their own, past a pooler. */
  directUrl: string
  database: OpenDatabase
  db: OpenDatabase['db']
  /** The pool of jobs: requests cannot take its connections, and nightly jobs may read whole tables. */
  background: OpenDatabase
  outage: Outage
  /** The standbys that visitors read posts from; undefined where there are none. */
  replica: Replica | undefined
  runRead: RunRead
  log: FastifyBaseLogger
  limits: Limits
  secret: string
  /** Absent where METRICS_PORT is unset. */
  metrics: Metrics | undefined
  isHttps: boolean
  sessions: Sessions
  refusals: ReturnType<typeof createRefusalLog>
  web: WebApp | null
  codeKey: Buffer
  undoKey: Buffer
  nameKey: Buffer
  readText: ReadText
}

const BACKGROUND = { connections: 5, statementTimeoutMs: 3_600_000, applicationName: 'vslukh jobs' }

/** Opens the databases of a node, and makes everything that does not depend on routes. */
export async function createParts(options: AppOptions): Promise<Parts> {
  const { config, secret } = options
  const log = hashAddresses(options.log, deriveKey(secret, 'log'))
  const outage = watchOutages({ url: options.databaseUrl, log })
  const databases = openDatabases(options, { log, outage })
  const { database, replica } = databases
  const countShared = countHashed(database.pool, deriveKey(secret, 'limits'))
  const limits = createLimits(config.rateLimitScale, countShared)
  logTripped(limits, log)
  const isHttps = config.publicUrl?.startsWith('https:') ?? false
  const folder = join(config.dataDir, 'pages')
  return {
    ...databases,
    config,
    db: database.db,
    outage,
    runRead: replica?.runRead ?? ((_viewer, read) => read(database.db)),
    log,
    limits,
    secret,
    metrics: config.metricsPort === undefined ? undefined : createMetrics(productVersion()),
    isHttps,
    sessions: createSessions({ secret, accessTokenSeconds: config.accessTokenSeconds, isHttps }),
    refusals: createRefusalLog(log),
    web: await loadWebApp(options.webFolder, config),
    codeKey: deriveKey(secret, 'codes'),
    undoKey: deriveKey(secret, 'email-undo'),
    nameKey: deriveKey(secret, 'usernames'),
    readText: createTexts({ ...config, folder, origin: originOf(config) }),
  }
}

function openDatabases(
  { config, databaseUrl, poolLimits }: AppOptions,
  { log, outage }: Pick<Parts, 'log' | 'outage'>,
): Pick<Parts, 'directUrl' | 'database' | 'background' | 'replica'> {
  const onIdleError = (err: Error) => {
    if (!outage.noteFailure(err)) log.warn({ err }, 'an idle database connection broke')
  }
  const directUrl = config.databaseDirectUrl ?? databaseUrl
  const isBehindPooler = config.databaseDirectUrl !== undefined
  const database = openDatabase(databaseUrl, onIdleError, { ...poolLimits, isBehindPooler, outage })
  const ofJobs = { ...BACKGROUND, outage, waitsDuringOutage: true }
  const background = openDatabase(directUrl, outage.noteFailure, ofJobs)
  const url = config.databaseReplicaUrl
  const replica = url === undefined ? undefined : openReplica(url, database.db)
  return { directUrl, database, background, replica }
}
