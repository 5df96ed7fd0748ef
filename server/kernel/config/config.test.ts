import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { VARIABLES } from './variables.ts'

const SECRET = 's'.repeat(32)
const DATABASE_URL = 'postgres://vslukh:password@db.example:5432/vslukh'

const ROOT = join(import.meta.dirname, '../../..')

const HEAD = `# Configuration

Settings are environment variables, of which an empty one is unset. A wrong value ends the start with a sentence that
names it; a name that is nearly one of these is warned of. The Debian package reads them from \`/etc/vslukh.env\`.

| Name | Default | Meaning |
|---|---|---|
`

test('docs/configuration.md is the table of variables: `npm test -- config.test -u` writes it', async () => {
  const rows = Object.values(VARIABLES).map(
    ({ name, unset, about }) => `| \`${name}\` | ${unset} | ${about} |\n`,
  )
  await expect(HEAD + rows.join('')).toMatchFileSnapshot(join(ROOT, 'docs/configuration.md'))
})

test('the example of a settings file has every variable that is read, and no other, with a sentence above it', () => {
  const example = readFileSync(join(ROOT, 'deploy/vslukh.env.example'), 'utf8')
  const named = [...example.matchAll(/^# .*[а-я].*\n#([A-Z_]+)=/gm)].map(([, name]) => name)
  expect(named.sort()).toEqual(
    Object.values(VARIABLES)
      .map(({ name }) => name)
      .sort(),
  )
})

test('with no variable set, mails come from localhost and are not signed, and no command follows a backup', () => {
  const unset = { mailFrom: 'no-reply@localhost', dkim: undefined, backupCommand: undefined }
  expect(readConfig({})).toMatchObject({ ...unset, dataDir: resolve('./data'), warnings: [] })
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
    MODERATOR_EMAIL: 'anna@vsluh.example, boris@vsluh.example,anna@vsluh.example',
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
    BACKUP_COMMAND: 'rsync "$1" there:',
    PATH: '/usr/bin',
    PGPASSWORD: 'of the database',
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
    appSecret: SECRET,
    acceptNewSecret: true,
    smtpUrl: 'smtps://mail.example',
    mailFrom: 'stena@vsluh.example',
    dkim: { keyFile: '/etc/vslukh/dkim.pem', selector: 'wall' },
    mailsPerHour: 500,
    operatorName: 'ООО «Стена»',
    contactEmail: 'wall@vsluh.example',
    accessJournalDays: 1095,
    moderatorEmails: ['anna@vsluh.example', 'boris@vsluh.example'],
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
    backupCommand: { line: 'rsync "$1" there:', env: { PATH: '/usr/bin' } },
    warnings: [],
  })
})

test('a name that is nearly one of ours is warned of, and names of other programs are not', () => {
  const warned = (...names: string[]) =>
    readConfig(Object.fromEntries(names.map((name) => [name, '7']))).warnings.map(({ fix }) => fix)
  expect(warned('REPORT_TO_HIDE', 'BACKUPDIR', 'SMPT_URL', 'OPERATOR_NAMES')).toEqual(
    ['REPORTS_TO_HIDE', 'BACKUP_DIR', 'SMTP_URL', 'OPERATOR_NAME'].map(
      (meant) => `Если имелась в виду ${meant}, исправьте имя`,
    ),
  )
  const others = 'HOME LANG LOGNAME MAIL NODE_OPTIONS PATH POST PWD SHELL TERM USER INVOCATION_ID'
  expect(warned(...others.split(' '), 'JOURNAL_STREAM', 'STATE_DIRECTORY', 'TMPDIR')).toEqual([])
})

test('an empty value counts as unset, and spaces around a value do not count', () => {
  const empty = Object.fromEntries(
    ['PORT', 'APP_SECRET', 'SMTP_URL', 'LOG_LEVEL'].map((n) => [n, ' ']),
  )
  expect(readConfig(empty)).toEqual(readConfig({}))
  expect(readConfig({ PORT: ' 8080 ' }).port).toBe(8080)
})

test('a trailing slash of PUBLIC_URL does not count', () => {
  expect(readConfig({ PUBLIC_URL: 'https://vsluh.example/', MAIL_MODE: 'print' }).publicUrl).toBe(
    'https://vsluh.example',
  )
})

test('mails come from the login of SMTP_URL if it is an address, else from the host of PUBLIC_URL', () => {
  const SMTP_URL = 'smtps://olga%40mail.example:pass@smtp.mail.example'
  expect(readConfig({ SMTP_URL }).mailFrom).toBe('olga@mail.example')
  expect(readConfig({ PUBLIC_URL: 'https://vsluh.example', MAIL_MODE: 'print' }).mailFrom).toBe(
    'no-reply@vsluh.example',
  )
})
