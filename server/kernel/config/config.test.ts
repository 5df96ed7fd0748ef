import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { VARIABLES } from './variables.ts'

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
  const read = Object.values(VARIABLES).map(({ name }) => name)
  expect(named.sort()).toEqual(read.sort())
})

test('with no variable set, mails come from localhost and are not signed, and no command follows a backup', () => {
  const unset = { mailFrom: 'no-reply@localhost', dkim: undefined, backupCommand: undefined }
  expect(readConfig({})).toMatchObject({ ...unset, dataDir: resolve('./data'), warnings: [] })
})

test.each([
  ['PORT', ' 8080 ', { port: 8080 }],
  ['PUBLIC_URL', 'http://vsluh.example/', { publicUrl: 'http://vsluh.example' }],
  ['PUBLIC_URL', 'http://vsluh.example', { mailFrom: 'no-reply@vsluh.example' }],
  ['SERVICE_WORKER', 'off', { serviceWorker: false }],
  ['ACCEPT_NEW_SECRET', '1', { acceptNewSecret: true }],
  ['DATA_DIR', 'wall', { dataDir: '/srv/wall' }],
  ['MODERATOR_EMAIL', 'a@b.ru, c@d.ru,a@b.ru', { moderatorEmails: ['a@b.ru', 'c@d.ru'] }],
  ['REPORTS_TO_HIDE', '0', { reportsToHide: 0 }],
  ['TRUST_PROXY', '10.0.0.0/8, 2001:db8::/32', { trustProxy: ['10.0.0.0/8', '2001:db8::/32'] }],
  ['RATE_LIMIT_SCALE', '0.5', { rateLimitScale: 0.5 }],
  ['BACKUP_DIR', '/backups', { backupDir: '/backups' }],
  ['BACKUP_AT', '4:05', { backupAt: { hour: 4, minute: 5 } }],
])('%s=%s is read as %o', (name, value, expected) => {
  expect(readConfig({ [name]: value }, '/srv')).toMatchObject(expected)
})

test('variables that belong together are read, and no setting of the database or the wall goes to a command', () => {
  const dkim = { DKIM_KEY_FILE: 'dkim.pem', DKIM_SELECTOR: 'wall' }
  const backup = { BACKUP_DIR: '/backups', BACKUP_COMMAND: 'rsync "$1" there:', PATH: '/usr/bin' }
  const config = readConfig({ ...dkim, ...backup, PGPASSWORD: 'secret' }, '/srv')
  expect(config.dkim).toEqual({ keyFile: '/srv/dkim.pem', selector: 'wall' })
  const env = { PATH: backup.PATH }
  expect(config.backupCommand).toEqual({ line: backup.BACKUP_COMMAND, env })
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

test('an empty value counts as unset', () => {
  const empty = Object.fromEntries(['PORT', 'APP_SECRET', 'SMTP_URL'].map((name) => [name, ' ']))
  expect(readConfig(empty)).toEqual(readConfig({}))
})

test('mails come from the login of SMTP_URL if it is an address', () => {
  const SMTP_URL = 'smtps://olga%40mail.example:pass@smtp.mail.example'
  expect(readConfig({ SMTP_URL }).mailFrom).toBe('olga@mail.example')
})
