import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, inject, type TestAPI, test } from 'vitest'
import { createApp } from '../app.ts'
import { undoSecret } from '../features/account/account.mail.ts'
import { deriveCode } from '../features/codes/codes.mail.ts'
import { findCounterDifferences } from '../features/posts/counters.task.ts'
import { deriveKey, signText } from '../kernel/config/app-secret.ts'
import { type Config, readConfig } from '../kernel/config/config.ts'
import { createLogger } from '../kernel/log/logger.ts'
import { openMailTransport } from '../kernel/mail/transport.ts'
import type { AppOptions } from '../open-context.ts'
import { closeAfterTest } from './close-after-test.ts'
import { openBalancer } from './http/balancer.ts'
import { createClient } from './http/client.ts'
import './compile-schemas-once.ts'
import { freshDatabase } from './database/databases.ts'
import { WEB_FILES } from './fake-web-app.ts'
import { checkAnswer } from './http/openapi-check.ts'
import { type Mailbox, type MailboxOptions, openMailbox } from './mail/mailbox.ts'
import { limitRowsKept } from './privacy-page.ts'
import { collectLog } from './process/log-lines.ts'

/** Where a test app is by default, as the names of its cookies have it. */
export const TEST_SITE = { publicUrl: undefined, port: 0 }
export const SECRET = 'a-secret-that-only-tests-know-0123456789'
/** More than one node stand behind a balancer. */
export const NODES = Number(process.env.VSLUKH_NODES ?? 1)

/** On a busy machine PostgreSQL may take long to accept a connection, and to answer. */
const PATIENT = { connectionWaitMs: 10_000, statementTimeoutMs: 120_000 }
const PATIENT_HANDLE_MS = 60_000

type Options = {
  /** Differences from the defaults. Rate limits are 1000 times as high unless set. */
  config?: Partial<Config>
  /** An existing database, for a second node or a restart; by default a fresh one. */
  databaseUrl?: string | undefined
  /** The files of a built web app by their paths, by default a fake one; `{}` for none. */
  webFiles?: Record<string, string>
  /** Whether calls are given up as early as in production; by default a busy machine may be slow. */
  keepsTimeLimits?: boolean
} & Pick<AppOptions, 'poolLimits' | 'handleMs' | 'lockWaitMs'>

export type TestApp = Awaited<ReturnType<typeof startTestApp>>

/**
 * Starts the product on a fresh real database, listening on a free loopback port. The caller closes
 * it, once. Its client checks every response against the OpenAPI document. With VSLUKH_NODES=2 the
 * client calls two nodes on that database in turn; `http` and `db` belong to the first, and the log
 * contains the lines of both.
 */
export async function startTestApp({
  config: changes = {},
  databaseUrl,
  webFiles = WEB_FILES,
  keepsTimeLimits = false,
  poolLimits,
  ...limits
}: Options = {}) {
  const database = databaseUrl
    ? { url: databaseUrl, drop: async () => {} }
    : await freshDatabase(inject('databaseUrl'))
  const dataDir = await mkdtemp(join(tmpdir(), 'vslukh-app-'))
  const config: Config = {
    ...readConfig({
      DATA_DIR: dataDir,
      PORT: String(TEST_SITE.port),
      RATE_LIMIT_SCALE: '1000',
      LOG_LEVEL: 'info',
    }),
    databaseUrl: database.url,
    ...changes,
  }
  const log = collectLog()
  const options = {
    config,
    databaseUrl: database.url,
    secret: SECRET,
    log: createLogger(config.logLevel, log.stream),
    webFolder: await writeFiles(join(dataDir, 'web'), webFiles),
    poolLimits: { ...(!keepsTimeLimits && PATIENT), ...poolLimits },
    ...(!keepsTimeLimits && { handleMs: PATIENT_HANDLE_MS, lockWaitMs: 0 }),
    ...limits,
    steadyMs: 0,
  }
  const first = await startNode(options)
  const others = await Promise.all(Array.from({ length: NODES - 1 }, () => startNode(options)))
  const { app } = first
  const nodes = [first, ...others]
  const balancer = NODES > 1 ? await openBalancer(nodes.map((node) => node.url)) : undefined
  const url = balancer?.url ?? first.url
  const codeKey = deriveKey(SECRET, 'codes')
  const undoKey = deriveKey(SECRET, 'email-undo')
  const unsubscribeKey = deriveKey(SECRET, 'unsubscribe')
  const codeFor = (operationId: string) => deriveCode(operationId, codeKey)

  return {
    ...createClient(url, { hasNodes: NODES > 1, check: checkAnswer, codeFor }),
    url,
    /** Where its pages are for a browser. */
    origin: config.publicUrl ?? url,
    http: app.http,
    db: app.database.db,
    /** Executes a statement. Returns its rows. */
    sql: async <Row = unknown>(...statement: Parameters<typeof sql>): Promise<Row[]> =>
      (await sql<Row>(...statement).execute(app.database.db)).rows,
    databaseUrl: database.url,
    dataDir,
    logged: log.lines,
    logLine: log.line,
    codeFor,
    unsubscribeTokenFor: (userId: string) => signText(userId, unsubscribeKey),
    undoSecretFor: (changeId: string) => undoSecret(changeId, undoKey),
    /** Connections that were used within `keptMs` may send one more request. */
    async close(keptMs = 0) {
      await balancer?.close()
      await Promise.all(nodes.map((node) => node.app.close(keptMs)))
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function writeFiles(folder: string, files: Record<string, string>): Promise<string> {
  await mkdir(folder)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

async function startNode(options: Omit<AppOptions, 'transport'>) {
  const { config } = options
  const transport = await openMailTransport(config, () => {})
  const app = await createApp({ ...options, transport })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  // The first connection to the database can take longer than a request waits for it.
  while (!(await fetch(`${url}/readyz`)).ok);
  return { app, url }
}

export async function appForTest(options?: Options): Promise<TestApp> {
  return closeAfterTest(await startTestApp(options))
}

export async function appForFile(options?: Options): Promise<TestApp> {
  return closeAfterFile(await startTestApp(options))
}

/**
 * After the tests of a file every counter of its app must be exact, and no limit may count for
 * longer than the page about personal data says.
 */
function closeAfterFile(app: TestApp): TestApp {
  afterAll(async () => {
    const differences = await findCounterDifferences(app.db)
    const keptLonger = await findLimitsKeptLonger(app)
    await app.close()
    expect(differences).toEqual([])
    expect(keptLonger).toEqual([])
  })
  return app
}

/** A key begins with the name of its limit and with the seconds after which it is free again. */
async function findLimitsKeptLonger(app: TestApp) {
  const { named, other } = limitRowsKept()
  const rows = await app.sql<{ name: string; seconds: number }>`
    SELECT DISTINCT split_part(key, '/', 1) AS name,
      split_part(split_part(key, '/', 2), ' ', 1)::float8 AS seconds FROM rate_limits`
  return rows.filter(({ name, seconds }) => seconds > (named.get(name) ?? other))
}

/** The limits are the default ones, and a proxy on this machine names the client's address. */
export function strictApp(config: Partial<Config> = {}): Promise<TestApp> {
  return appForTest({ config: { rateLimitScale: 1, trustProxy: ['127.0.0.1'], ...config } })
}

type MailAppOptions = MailboxOptions & Pick<Options, 'databaseUrl'>

/** Starts an app whose mails arrive in a mailbox, which closes with the app. */
const mailApp =
  (closeLater: (app: TestApp) => unknown) =>
  async (
    config: Partial<Config> = {},
    { databaseUrl, ...options }: MailAppOptions = {},
  ): Promise<{ app: TestApp; mailbox: Mailbox }> => {
    const mailbox = await openMailbox(0, options)
    const ofMailbox = { config: { ...config, smtpUrl: mailbox.url } }
    const app = await startTestApp({ ...ofMailbox, databaseUrl })
    const close = (keptMs?: number) => app.close(keptMs).then(mailbox.close)
    closeLater({ ...app, close })
    return { app: { ...app, close }, mailbox }
  }

export const mailAppForTest = mailApp(closeAfterTest)
export const mailAppForFile = mailApp(closeAfterFile)

/** Declares tests of what each node promises by itself. A run with several nodes skips them. */
export function testPerNode(_reason: string): TestAPI {
  return (NODES > 1 ? test.skip : test) as TestAPI
}
