import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { ConfigError } from './config-reader.ts'

const SECRET = 's'.repeat(32)
const DATABASE_URL = 'postgres://vslukh:password@db.example:5432/vslukh'

test.each([
  [{ DKIM_SELECTOR: 'wall' }, 'нужны обе'],
  [{ DKIM_KEY_FILE: '/etc/dkim.pem' }, 'нужны обе'],
  [{ DKIM_KEY_FILE: '/etc/dkim.pem', DKIM_SELECTOR: 'wall; p=x' }, 'DKIM_SELECTOR: нужно имя'],
])('signing mails needs a key and its name: %o', (env, message) => {
  expect(() => readConfig(env)).toThrow(ConfigError)
  expect(() => readConfig(env)).toThrow(message)
})

test('the README names every variable that is read, and no other', () => {
  const read = new Set<string>()
  readConfig(new Proxy({}, { get: (_env, name) => void read.add(String(name)) }))
  const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
  const [, rows = ''] = /^\| Name \| Default .*\n((?:\|.*\n)+)/m.exec(page) ?? []
  const named = [...rows.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell]) => cell?.match(/\w{2,}/g))
  expect(named.sort()).toEqual([...read].sort())
})

test('with no variable set everything has its default', () => {
  expect(readConfig({})).toEqual({
    port: 3000,
    host: '127.0.0.1',
    publicUrl: undefined,
    hstsSubdomains: false,
    appName: 'Вслух',
    serviceWorker: true,
    dataDir: resolve('./data'),
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    databaseReplicaUrl: undefined,
    appSecret: undefined,
    acceptNewSecret: false,
    smtpUrl: undefined,
    mailFrom: 'no-reply@localhost',
    dkim: undefined,
    mailsPerHour: 2000,
    operatorName: undefined,
    contactEmail: undefined,
    accessJournalDays: 0,
    moderatorEmail: undefined,
    reportsToHide: 3,
    removedDays: 30,
    trustProxy: [],
    editPeriodSeconds: 600,
    accessTokenSeconds: 300,
    codeTtlSeconds: 600,
    rateLimitScale: 1,
    logLevel: 'info',
    printsMails: false,
    drainSeconds: 0,
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    backupDir: undefined,
    backupAt: { hour: 3, minute: 30 },
    backupKeep: 14,
  })
})

test('every variable sets its own field', () => {
  const env = {
    PORT: '8080',
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://vsluh.example',
    HSTS_SUBDOMAINS: 'on',
    APP_NAME: 'Стена',
    SERVICE_WORKER: 'off',
    DATA_DIR: '/var/lib/vslukh',
    DATABASE_URL,
    DATABASE_DIRECT_URL: 'postgres://vslukh@primary.example/vslukh',
    DATABASE_REPLICA_URL: 'postgres://vslukh@standby.example/vslukh',
    APP_SECRET: SECRET,
    ACCEPT_NEW_SECRET: '1',
    SMTP_URL: 'smtps://mail.example',
    MAIL_FROM: 'stena@vsluh.example',
    DKIM_KEY_FILE: '/etc/vslukh/dkim.pem',
    DKIM_SELECTOR: 'wall',
    MAILS_PER_HOUR: '500',
    OPERATOR_NAME: 'ООО «Стена»',
    CONTACT_EMAIL: 'wall@vsluh.example',
    ACCESS_JOURNAL_DAYS: '1095',
    MODERATOR_EMAIL: 'moderators@vsluh.example',
    REPORTS_TO_HIDE: '0',
    REMOVED_DAYS: '7',
    TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32,127.0.0.1',
    EDIT_PERIOD_SECONDS: '60',
    ACCESS_TOKEN_SECONDS: '120',
    CODE_TTL_SECONDS: '180',
    RATE_LIMIT_SCALE: '0.5',
    LOG_LEVEL: 'warn',
    DRAIN_SECONDS: '5',
    METRICS_PORT: '9464',
    METRICS_HOST: '10.0.0.7',
    BACKUP_DIR: '/backups',
    BACKUP_AT: '4:05',
    BACKUP_KEEP: '30',
  }
  expect(readConfig(env)).toEqual({
    port: 8080,
    host: '0.0.0.0',
    publicUrl: 'https://vsluh.example',
    hstsSubdomains: true,
    appName: 'Стена',
    serviceWorker: false,
    dataDir: '/var/lib/vslukh',
    databaseUrl: DATABASE_URL,
    databaseDirectUrl: 'postgres://vslukh@primary.example/vslukh',
    databaseReplicaUrl: 'postgres://vslukh@standby.example/vslukh',
    appSecret: SECRET,
    acceptNewSecret: true,
    smtpUrl: 'smtps://mail.example',
    mailFrom: 'stena@vsluh.example',
    dkim: { keyFile: '/etc/vslukh/dkim.pem', selector: 'wall' },
    mailsPerHour: 500,
    operatorName: 'ООО «Стена»',
    contactEmail: 'wall@vsluh.example',
    accessJournalDays: 1095,
    moderatorEmail: 'moderators@vsluh.example',
    reportsToHide: 0,
    removedDays: 7,
    trustProxy: ['10.0.0.0/8', '2001:db8::/32', '127.0.0.1'],
    editPeriodSeconds: 60,
    accessTokenSeconds: 120,
    codeTtlSeconds: 180,
    rateLimitScale: 0.5,
    logLevel: 'warn',
    printsMails: false,
    drainSeconds: 5,
    metricsPort: 9464,
    metricsHost: '10.0.0.7',
    backupDir: '/backups',
    backupAt: { hour: 4, minute: 5 },
    backupKeep: 30,
  })
})

test('an empty value counts as unset, and spaces around a value do not count', () => {
  const empty = Object.fromEntries(
    ['PORT', 'APP_SECRET', 'SMTP_URL', 'LOG_LEVEL'].map((n) => [n, ' ']),
  )
  expect(readConfig(empty)).toEqual(readConfig({}))
  expect(readConfig({ PORT: ' 8080 ' }).port).toBe(8080)
})

test.each(['DATABASE_DIRECT_URL', 'DATABASE_REPLICA_URL'])(
  '%s, another way to the database, needs DATABASE_URL',
  (name) => {
    expect(() => readConfig({ [name]: DATABASE_URL })).toThrow(new RegExp(`^${name}: `))
  },
)

test('a trailing slash of PUBLIC_URL does not count', () => {
  expect(readConfig({ PUBLIC_URL: 'https://vsluh.example/', MAIL_MODE: 'print' }).publicUrl).toBe(
    'https://vsluh.example',
  )
})

test('an https PUBLIC_URL without SMTP_URL is refused unless printing mails is meant', () => {
  const PUBLIC_URL = 'https://vsluh.example'
  const SMTP_URL = 'smtps://mail.example'
  expect(() => readConfig({ PUBLIC_URL })).toThrow(/^SMTP_URL: .*MAIL_MODE=print$/)
  expect(readConfig({ PUBLIC_URL, SMTP_URL })).toMatchObject({ smtpUrl: SMTP_URL })
  expect(readConfig({ PUBLIC_URL, MAIL_MODE: 'print' }).printsMails).toBe(true)
  expect(readConfig({ PUBLIC_URL: 'http://vsluh.example' }).printsMails).toBe(false)
  expect(() => readConfig({ SMTP_URL, MAIL_MODE: 'print' })).toThrow(/^MAIL_MODE: /)
})

test('mails come from the host of PUBLIC_URL unless MAIL_FROM says otherwise', () => {
  expect(readConfig({ PUBLIC_URL: 'https://vsluh.example', MAIL_MODE: 'print' }).mailFrom).toBe(
    'no-reply@vsluh.example',
  )
})

test.each([
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '3000.5'],
  ['PORT', '0x10'],
  ['PUBLIC_URL', 'vsluh.example'],
  ['PUBLIC_URL', 'ftp://vsluh.example'],
  ['PUBLIC_URL', 'https://vsluh.example/wall'],
  ['PUBLIC_URL', 'https://vsluh.example/?a=1'],
  ['DATABASE_URL', 'mysql://db.example/vslukh'],
  ['APP_SECRET', 's'.repeat(31)],
  ['ACCEPT_NEW_SECRET', 'yes'],
  ['SMTP_URL', 'https://mail.example'],
  ['SMTP_URL', 'mail.example:25'],
  ['MAIL_FROM', 'Вслух <wall@vsluh.example>'],
  ['CONTACT_EMAIL', 'wall'],
  ['MODERATOR_EMAIL', 'a@b.example, c@d.example'],
  ['REPORTS_TO_HIDE', '2'],
  ['REPORTS_TO_HIDE', '-1'],
  ['REMOVED_DAYS', '0'],
  ['TRUST_PROXY', 'yes'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['TRUST_PROXY', '0.0.0.0/0'],
  ['TRUST_PROXY', '10.0.0.0/8/8'],
  ['TRUST_PROXY', '10.0.0.0/8,proxy.example'],
  ['EDIT_PERIOD_SECONDS', '0'],
  ['ACCESS_TOKEN_SECONDS', '5m'],
  ['CODE_TTL_SECONDS', '-600'],
  ['RATE_LIMIT_SCALE', '0'],
  ['RATE_LIMIT_SCALE', '-1'],
  ['RATE_LIMIT_SCALE', 'Infinity'],
  ['LOG_LEVEL', 'loud'],
  ['BACKUP_AT', '24:00'],
  ['BACKUP_KEEP', '0'],
  ['METRICS_PORT', '70000'],
  ['MAIL_MODE', 'file'],
  ['HSTS_SUBDOMAINS', 'yes'],
  ['SERVICE_WORKER', '0'],
])('%s=%s is refused with a sentence that names the variable', (name, value) => {
  const read = () => readConfig({ APP_SECRET: SECRET, [name]: value })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(new RegExp(`^${name}: .*[а-я]`))
})

test('APP_SECRET is required with DATABASE_URL', () => {
  expect(() => readConfig({ DATABASE_URL })).toThrow(/^APP_SECRET: обязателен/)
  expect(readConfig({ DATABASE_URL, APP_SECRET: SECRET }).databaseUrl).toBe(DATABASE_URL)
})

test('no message repeats a secret or a password', () => {
  const secrets = { APP_SECRET: 'short-secret', SMTP_URL: 'http://u:short-secret@mail.example' }
  for (const [name, value] of Object.entries(secrets)) {
    expect(() => readConfig({ [name]: value })).toThrow(/^((?!short-secret).)*$/)
  }
})

test('a wrong variable stops the start with exit code 1 and only its message', async () => {
  const main = join(import.meta.dirname, 'main.ts')
  const env = { PATH: process.env.PATH, PORT: 'http' }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [told, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  expect(code).toBe(1)
  expect(told).toBe('PORT: нужно целое число от 0 до 65535, а задано «http»\n')
})
