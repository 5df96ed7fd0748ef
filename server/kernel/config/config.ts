import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { unescape as decode } from 'node:querystring'
import { ConfigError, type Variable } from './config-reader.ts'
import { isSender, VARIABLES } from './variables.ts'

type Values = {
  [Field in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Field]['read']>
}
type CombinedFields = 'mailFrom' | 'dkimKeyFile' | 'dkimSelector' | 'backupCommand'

export type LogLevel = Values['logLevel']

/** The configuration, with durations in seconds. */
export type Config = Omit<Values, CombinedFields> & {
  mailFrom: string
  dkim: { keyFile: string; selector: string } | undefined
  /** `env` lacks this product's and PostgreSQL's variables, which may contain passwords. */
  backupCommand: { line: string; env: NodeJS.ProcessEnv } | undefined
  warnings: ConfigWarning[]
}

const NAMES = Object.values(VARIABLES).map(({ name }) => name)

/** Reads the environment variables. Relative paths begin in `folder`. Throws ConfigError. */
export function readConfig(
  env: NodeJS.ProcessEnv,
  folder = process.cwd(),
  { mayLackSecret = false } = {},
): Config {
  requireEncodedLogin(env.SMTP_URL?.trim())
  const read = ([field, variable]: [string, Variable<unknown>]) => [field, variable.read(env)]
  const values = Object.fromEntries(Object.entries(VARIABLES).map(read)) as Values
  requireTogether(values)
  if (!mayLackSecret) requireSecret(values, resolve(folder, values.dataDir))
  requireOneWayOfMail(values)
  requireWholeSmtpUrl(values)
  const mailFrom = senderOf(values)
  const { mailFrom: _, dkimKeyFile, dkimSelector, backupCommand, ...others } = values
  const { dataDir, backupDir } = values
  return {
    ...others,
    dataDir: resolve(folder, dataDir),
    mailFrom,
    dkim:
      dkimKeyFile !== undefined && dkimSelector !== undefined
        ? { keyFile: resolve(folder, dkimKeyFile), selector: dkimSelector }
        : undefined,
    backupDir: backupDir && resolve(folder, backupDir),
    backupCommand:
      backupCommand === undefined ? undefined : { line: backupCommand, env: foreignVariables(env) },
    warnings: warningsOf(env, { ...values, mailFrom }),
  }
}

function requireSecret({ databaseUrl, appSecret }: Values, dataDir: string): void {
  const hasSecret = appSecret !== undefined || existsSync(join(dataDir, 'app-secret'))
  if (databaseUrl === undefined || hasSecret) return
  throw new ConfigError('APP_SECRET: обязателен вместе с DATABASE_URL и общий для всех узлов')
}

function requireTogether(values: Values): void {
  const { databaseUrl, databaseDirectUrl } = values
  if (databaseDirectUrl !== undefined && databaseUrl === undefined) {
    throw new ConfigError('DATABASE_DIRECT_URL: имеет смысл только вместе с DATABASE_URL')
  }
  if (values.backupCommand !== undefined && values.backupDir === undefined) {
    throw new ConfigError('BACKUP_COMMAND: имеет смысл только вместе с BACKUP_DIR')
  }
  const { publicUrl, formerUrls } = values
  if (formerUrls.length > 0 && (publicUrl === undefined || formerUrls.includes(publicUrl))) {
    throw new ConfigError(
      'FORMER_URLS: прежние адреса — другие, чем PUBLIC_URL, и нужны вместе с ним',
    )
  }
  if ((values.dkimKeyFile === undefined) !== (values.dkimSelector === undefined)) {
    throw new ConfigError('DKIM_KEY_FILE и DKIM_SELECTOR: нужны обе переменные или ни одной')
  }
}

function foreignVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = Object.entries(env).filter(([name]) => !NAMES.includes(name) && !/^PG/.test(name))
  return Object.fromEntries(foreign)
}

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

/** Throws ConfigError if the login is not percent-encoded. The message quotes no password. */
function requireEncodedLogin(smtpUrl = ''): void {
  if (/^["']/.test(smtpUrl)) {
    throw new ConfigError('SMTP_URL: уберите кавычки вокруг значения: docker их не снимает')
  }
  const url = URL.parse(smtpUrl)
  const isCut = !url || url.username === '' || url.hash !== '' || url.pathname.length > 1
  const isMisread = isCut && /[#/?].*@/.test(smtpUrl.replace(/^\w*:\/\//, ''))
  // After a password with `@` and then `?`, the parser takes the host for an option.
  const hasHostInOption = [...(url?.searchParams.keys() ?? [])].some((name) => name.includes('@'))
  if (!isMisread && !hasHostInOption && !/%(?![0-9a-f]{2})/i.test(smtpUrl)) return
  throw new ConfigError(
    'SMTP_URL: в имени и пароле знаки # / ? % @ : записываются кодами (percent-encoding): ' +
      '%23 %2F %3F %25 %40 %3A',
  )
}

function requireWholeSmtpUrl({ smtpUrl }: Pick<Config, 'smtpUrl'>): void {
  if (smtpUrl === undefined) return
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  if (hostname === '') {
    throw new ConfigError('SMTP_URL: нет имени сервера, нужен адрес вида smtps://имя:пароль@сервер')
  }
  if (protocol === 'smtp:' && port === '465') {
    throw new ConfigError('SMTP_URL: порт 465 — сразу с TLS: напишите smtps:// вместо smtp://')
  }
  if ((username === '') !== (password === '')) {
    throw new ConfigError('SMTP_URL: нужны и имя, и пароль, или ни того ни другого')
  }
}

function senderOf({ mailFrom, smtpUrl, publicUrl }: Values): string {
  const login = decode(smtpUrl === undefined ? '' : new URL(smtpUrl).username)
  const { hostname } = new URL(publicUrl ?? 'http://localhost')
  return mailFrom ?? (isSender(login) ? login : `no-reply@${hostname}`)
}

function isRefusedElsewhere(sender: string, smtpUrl: string): boolean {
  const isAtIp = /@(?:[\d.]+|\[.*)$/.test(sender)
  return isAtIp || (sender.endsWith('@localhost') && !isLoopback(new URL(smtpUrl).hostname))
}

export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname)
}

/** Returns whether the node stores its database, its secret or its mails in DATA_DIR. */
export function usesDataDir({ databaseUrl, appSecret, smtpUrl }: Config): boolean {
  return [databaseUrl, appSecret, smtpUrl].includes(undefined)
}

export function originOf({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string {
  return publicUrl ?? `http://localhost:${port}`
}

/** Returns the address of the node on this machine, for commands that run beside it. */
export function nodeOriginOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Returns who gets mails about faults of the wall: the moderators, or else CONTACT_EMAIL. */
export function operatorEmails({
  moderatorEmails,
  contactEmail,
}: Pick<Config, 'moderatorEmails' | 'contactEmail'>): string[] {
  return moderatorEmails.length > 0 || !contactEmail ? moderatorEmails : [contactEmail]
}

type ConfigWarning = { message: string; fix: string }

type Facts = Pick<Config, 'mailFrom' | 'smtpUrl' | 'publicUrl' | 'operatorName' | 'contactEmail'>

function warningsOf(
  env: NodeJS.ProcessEnv,
  { mailFrom, smtpUrl, publicUrl, operatorName, contactEmail }: Facts,
): ConfigWarning[] {
  const warnings: ConfigWarning[] = []
  const missing = [
    ...(operatorName === undefined ? ['OPERATOR_NAME'] : []),
    ...(contactEmail === undefined ? ['CONTACT_EMAIL'] : []),
  ]
  if (publicUrl?.startsWith('https:') && missing.length > 0) {
    warnings.push({
      message: `сайт открыт людям, а кто за него отвечает и куда писать, не указано: ${missing.join(', ')}`,
      fix: `Задайте ${missing.join(' и ')}: их называют /privacy и /contacts (docs/law.md)`,
    })
  }
  if (smtpUrl !== undefined && isRefusedElsewhere(mailFrom, smtpUrl)) {
    const message = `письма от ${mailFrom} другие почтовые серверы не принимают`
    warnings.push({ message, fix: 'Задайте MAIL_FROM' })
  }
  for (const name of Object.keys(env)) {
    // Shorter names, such as PORT, resemble variables of other programs.
    const meant = NAMES.find((known) => known.length >= SHORTEST && isMisspelt(name, known))
    if (meant === undefined || NAMES.includes(name)) continue
    const message = `переменной ${name} нет`
    warnings.push({ message, fix: `Если имелась в виду ${meant}, исправьте имя` })
  }
  return warnings
}

const SHORTEST = 7
const FEW_LETTERS = 2

/** Returns whether the names differ in at most two neighbouring letters. */
export function isMisspelt(name: string, knownName: string): boolean {
  const longer = Math.max(name.length, knownName.length)
  let head = 0
  while (head < longer && name[head] === knownName[head]) head++
  let tail = 0
  while (tail < longer - head && name.at(-1 - tail) === knownName.at(-1 - tail)) tail++
  return longer - head - tail <= FEW_LETTERS
}
