import { resolve } from 'node:path'
import { ConfigError, reader, wrong } from './config-reader.ts'
import { type ConfigWarning, warningsOf } from './config-warnings.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** The configuration from the environment, read once at start. Durations are in seconds. */
export type Config = {
  port: number
  host: string
  /** Without a trailing slash. */
  publicUrl: string | undefined
  /** Whether browsers should use https for the subdomains of an https PUBLIC_URL too. */
  hstsSubdomains: boolean
  appName: string
  /** Without it, browsers get one that removes the service worker. */
  serviceWorker: boolean
  dataDir: string
  databaseUrl: string | undefined
  /** The same database past the pooler that DATABASE_URL leads to. */
  databaseDirectUrl: string | undefined
  appSecret: string | undefined
  acceptNewSecret: boolean
  smtpUrl: string | undefined
  /** MAIL_MODE=print: mails are printed and saved although PUBLIC_URL is https. */
  printsMails: boolean
  mailFrom: string
  dkim: { keyFile: string; selector: string } | undefined
  mailsPerHour: number
  /** Who runs the site, as its texts name them. */
  operatorName: string | undefined
  /** For how long the journal keeps addresses; 0: not at all. */
  accessJournalDays: number
  contactEmail: string | undefined
  moderatorEmails: string[]
  /** How many reports hide a post; 0: posts are never hidden. */
  reportsToHide: number
  /** For how many days removed posts can be restored. */
  removedDays: number
  trustProxy: string[]
  editPeriodSeconds: number
  accessTokenSeconds: number
  codeTtlSeconds: number
  rateLimitScale: number
  logLevel: LogLevel
  /** For how long /readyz says that the server is about to stop, while it serves on. */
  drainSeconds: number
  metricsPort: number | undefined
  metricsHost: string
  backupDir: string | undefined
  backupAt: { hour: number; minute: number }
  backupKeep: number
  /** What runs after each nightly backup, and an environment without the product's variables. */
  backupCommand: { line: string; env: NodeJS.ProcessEnv } | undefined
  warnings: ConfigWarning[]
}

const POSTGRES = ['postgres:', 'postgresql:']

/**
 * Reads the environment variables (docs: README, “Variables”), of which an empty one is unset.
 * Relative paths begin in `folder`. Throws ConfigError.
 */
export function readConfig(env: NodeJS.ProcessEnv, folder = process.cwd()): Config {
  const read = reader(env)
  const databaseUrl = read.url('DATABASE_URL', POSTGRES)
  const databaseDirectUrl = read.url('DATABASE_DIRECT_URL', POSTGRES)
  const publicUrl = read.origin('PUBLIC_URL')
  const appSecret = read.text('APP_SECRET')
  if (appSecret !== undefined && appSecret.length < 32) {
    throw new ConfigError('APP_SECRET: нужно не меньше 32 символов')
  }
  if (databaseUrl !== undefined && appSecret === undefined) {
    throw new ConfigError('APP_SECRET: обязателен вместе с DATABASE_URL и общий для всех узлов')
  }
  if (databaseDirectUrl !== undefined && databaseUrl === undefined) {
    throw new ConfigError('DATABASE_DIRECT_URL: имеет смысл только вместе с DATABASE_URL')
  }
  requireEncodedLogin(read.text('SMTP_URL'))
  const smtpUrl = read.url('SMTP_URL', ['smtp:', 'smtps:'])
  const printsMails = read.oneOf('MAIL_MODE', ['smtp', 'print'], 'smtp') === 'print'
  requireOneWayOfMail({ publicUrl, smtpUrl, printsMails })
  const backupDir = read.text('BACKUP_DIR')
  const backupCommand = read.text('BACKUP_COMMAND')
  if (backupCommand !== undefined && backupDir === undefined) {
    throw new ConfigError('BACKUP_COMMAND: имеет смысл только вместе с BACKUP_DIR')
  }
  const operatorName = read.text('OPERATOR_NAME')
  const contactEmail = read.email('CONTACT_EMAIL')
  return {
    port: read.integer('PORT', { fallback: 3000, min: 0, max: 65535 }),
    host: read.text('HOST') ?? '127.0.0.1',
    publicUrl,
    hstsSubdomains: read.oneOf('HSTS_SUBDOMAINS', ['on', 'off'], 'off') === 'on',
    appName: read.text('APP_NAME') ?? 'Вслух',
    serviceWorker: read.oneOf('SERVICE_WORKER', ['on', 'off'], 'on') === 'on',
    dataDir: resolve(folder, read.text('DATA_DIR') ?? './data'),
    databaseUrl,
    databaseDirectUrl,
    appSecret,
    acceptNewSecret: read.oneOf('ACCEPT_NEW_SECRET', ['0', '1'], '0') === '1',
    smtpUrl,
    printsMails,
    mailFrom:
      read.email('MAIL_FROM') ??
      `no-reply@${publicUrl ? new URL(publicUrl).hostname : 'localhost'}`,
    dkim: readDkimSettings(read, folder),
    mailsPerHour: read.integer('MAILS_PER_HOUR', { fallback: 2000, min: 1, max: 10_000_000 }),
    operatorName,
    contactEmail,
    accessJournalDays: read.integer('ACCESS_JOURNAL_DAYS', { fallback: 0, min: 0, max: 3650 }),
    moderatorEmails: read.emails('MODERATOR_EMAIL'),
    reportsToHide: readReportsToHide(read),
    removedDays: read.integer('REMOVED_DAYS', { fallback: 30, min: 1, max: 3650 }),
    trustProxy: read.networks('TRUST_PROXY'),
    editPeriodSeconds: read.integer('EDIT_PERIOD_SECONDS', { fallback: 600, min: 1, max: 1e9 }),
    accessTokenSeconds: read.integer('ACCESS_TOKEN_SECONDS', {
      fallback: 300,
      min: 1,
      max: 86_400,
    }),
    codeTtlSeconds: read.integer('CODE_TTL_SECONDS', { fallback: 600, min: 1, max: 86_400 }),
    rateLimitScale: read.positive('RATE_LIMIT_SCALE', 1),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    drainSeconds: read.integer('DRAIN_SECONDS', { fallback: 0, min: 0, max: 600 }),
    metricsPort:
      read.text('METRICS_PORT') === undefined
        ? undefined
        : read.integer('METRICS_PORT', { fallback: 0, min: 0, max: 65535 }),
    metricsHost: read.text('METRICS_HOST') ?? '127.0.0.1',
    backupDir: backupDir === undefined ? undefined : resolve(folder, backupDir),
    backupAt: read.timeOfDay('BACKUP_AT', { hour: 3, minute: 30 }),
    backupKeep: read.integer('BACKUP_KEEP', { fallback: 14, min: 1, max: 10_000 }),
    // The last two: by now every variable has been read.
    backupCommand:
      backupCommand === undefined
        ? undefined
        : { line: backupCommand, env: foreignVariables(env, read.names) },
    warnings: warningsOf(env, read.names, { publicUrl, operatorName, contactEmail }),
  }
}

/** PostgreSQL's own variables may have a password, too. */
function foreignVariables(env: NodeJS.ProcessEnv, names: ReadonlySet<string>): NodeJS.ProcessEnv {
  const foreign = Object.entries(env).filter(([name]) => !names.has(name) && !/^PG/.test(name))
  return Object.fromEntries(foreign)
}

/** On a public site nobody could sign in by a code that is only printed: that must be meant. */
function requireOneWayOfMail({
  publicUrl,
  smtpUrl,
  printsMails,
}: Pick<Config, 'publicUrl' | 'smtpUrl' | 'printsMails'>): void {
  if (smtpUrl !== undefined && printsMails) {
    throw new ConfigError('MAIL_MODE: print и SMTP_URL исключают друг друга, уберите одно из них')
  }
  if (smtpUrl !== undefined || printsMails || !publicUrl?.startsWith('https:')) return
  throw new ConfigError(
    'SMTP_URL: не задан, а PUBLIC_URL — https: коды никому не дойдут. Задайте почтовый сервер, ' +
      'а если письма и правда нужно только печатать — MAIL_MODE=print',
  )
}

const SELECTOR = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i

function readDkimSettings(
  { text }: Pick<ReturnType<typeof reader>, 'text'>,
  folder: string,
): Config['dkim'] {
  const [keyFile, selector] = [text('DKIM_KEY_FILE'), text('DKIM_SELECTOR')]
  if (keyFile === undefined && selector === undefined) return undefined
  if (keyFile === undefined || selector === undefined) {
    throw new ConfigError('DKIM_KEY_FILE и DKIM_SELECTOR: нужны обе переменные или ни одной')
  }
  if (!SELECTOR.test(selector)) {
    throw wrong('DKIM_SELECTOR', selector, 'нужно имя в DNS, например wall')
  }
  return { keyFile: resolve(folder, keyFile), selector }
}

/** In a URL these characters end the login or the address. The message quotes no password. */
function requireEncodedLogin(smtpUrl = ''): void {
  const url = URL.parse(smtpUrl)
  const isCut = !url || url.username === '' || url.hash !== '' || url.pathname.length > 1
  const isMisread = isCut && /[#/?].*@/.test(smtpUrl.replace(/^\w*:\/\//, ''))
  if (!isMisread && !/%(?![0-9a-f]{2})/i.test(smtpUrl)) return
  throw new ConfigError(
    'SMTP_URL: в имени и пароле знаки # / ? % @ : записываются кодами (percent-encoding): ' +
      '%23 %2F %3F %25 %40 %3A',
  )
}

/** With a database and an SMTP server of its own, a node stores nothing in DATA_DIR. */
export function usesDataDir({ databaseUrl, smtpUrl }: Config): boolean {
  return databaseUrl === undefined || smtpUrl === undefined
}

export function originOf({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string {
  return publicUrl ?? `http://localhost:${port}`
}

const REPORTS_TO_HIDE_MIN = 3

/** Fewer reports than three hide nothing: two people could silence anybody. */
function readReportsToHide(read: Pick<ReturnType<typeof reader>, 'integer'>): number {
  const reports = read.integer('REPORTS_TO_HIDE', { fallback: 3, min: 0, max: 1_000_000 })
  if (reports === 0 || reports >= REPORTS_TO_HIDE_MIN) return reports
  throw wrong('REPORTS_TO_HIDE', String(reports), 'нужно 0 (не скрывать) или целое число от 3')
}
