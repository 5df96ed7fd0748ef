import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { readConfig } from './config.ts'
import { ConfigError } from './config-reader.ts'

const MAIL_FROM = 'wall@vsluh.example'
const SECRET = 's'.repeat(32)
const DATABASE_URL = 'postgres://vslukh:password@db.example:5432/vslukh'

test.each([
  // They mean nothing without another variable.
  [{ DKIM_SELECTOR: 'wall' }, /нужны обе/],
  [{ DKIM_KEY_FILE: '/etc/dkim.pem' }, /нужны обе/],
  [{ DATABASE_DIRECT_URL: DATABASE_URL }, /^DATABASE_DIRECT_URL: .* DATABASE_URL$/],
  [{ FORMER_URLS: 'https://old.example' }, /^FORMER_URLS: .*PUBLIC_URL/],
  [
    { FORMER_URLS: 'http://a.test,http://b.test', PUBLIC_URL: 'http://b.test' },
    /^FORMER_URLS: .*другие/,
  ],
  [{ FORMER_URLS: 'old.example', PUBLIC_URL: 'http://b.test' }, /^FORMER_URLS: .*old\.example/],
  [{ BACKUP_COMMAND: 'true' }, /^BACKUP_COMMAND: .*BACKUP_DIR$/],
  [{ SMTP_URL: 'smtp://olga:pass@mail.example:465' }, /^SMTP_URL: .*smtps:\/\//],
  [{ SMTP_URL: 'smtp://olga@mail.example:587' }, /^SMTP_URL: .*пароль/],
  [{ SMTP_URL: 'smtp://olga:@mail.example' }, /^SMTP_URL: .*пароль/],
  [{ SMTP_URL: 'smtp:mail.example:587' }, /^SMTP_URL: .*имени сервера/],
  [{ SMTP_URL: '"smtps://olga:pass@mail.example"' }, /^SMTP_URL: .*кавычки/],
])('%j is refused with what to mend: %s', (env, message) => {
  expect(() => readConfig(env)).toThrow(ConfigError)
  expect(() => readConfig(env)).toThrow(message)
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

test.each([
  ['PORT', '0x10'],
  ['PUBLIC_URL', 'vsluh.example'],
  ['PUBLIC_URL', 'https://vsluh.example/wall'],
  ['DATABASE_URL', 'mysql://db.example/vslukh'],
  ['APP_SECRET', 's'.repeat(31)],
  ['ACCEPT_NEW_SECRET', 'yes'],
  ['SMTP_URL', 'https://mail.example'],
  ['MAIL_FROM', 'Вслух <wall@vsluh.example>'],
  ['DKIM_SELECTOR', 'wall; p=x'],
  ['MAIL_FROM', 'стена@пример.рф'],
  ['CONTACT_EMAIL', 'wall'],
  ['MODERATOR_EMAIL', 'a@b.example, anna'],
  ['REPORTS_TO_HIDE', '2'],
  ['TRUST_PROXY', '0.0.0.0/0'],
  ['TRUST_PROXY', '10.0.0.0/8,proxy.example'],
  ['ACCESS_TOKEN_SECONDS', '5m'],
  ['RATE_LIMIT_SCALE', '0'],
  ['LOG_LEVEL', 'loud'],
  ['BACKUP_AT', '24:00'],
  ['MAIL_MODE', 'file'],
])('%s=%s is refused with a sentence that names the variable', (name, value) => {
  const read = () => readConfig({ APP_SECRET: SECRET, [name]: value })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(new RegExp(`^${name}: .*[а-я]`))
})

test('APP_SECRET is required with DATABASE_URL, unless DATA_DIR has a secret', async () => {
  const DATA_DIR = await folderForTest()
  expect(() => readConfig({ DATABASE_URL, DATA_DIR })).toThrow(/^APP_SECRET: обязателен/)
  await writeFile(join(DATA_DIR, 'app-secret'), SECRET)
  expect(readConfig({ DATABASE_URL, DATA_DIR })).toMatchObject({ databaseUrl: DATABASE_URL })
  expect(readConfig({ DATABASE_URL, APP_SECRET: SECRET }).databaseUrl).toBe(DATABASE_URL)
})

test.each([
  'smtps://olga:pa#ss@mail.example',
  'smtp://olga:1/ss@mail.example',
  'smtp://olga:pa?ss@mail.example?requireTLS=false',
  'smtp://olga:100%@mail.example',
  'smtp://olga:p@ss?word@mail.example',
  'smtp://olga@yandex.example:12?ss@smtp.yandex.example',
])('a login with a bare sign that ends it is refused with the way to write it: %s', (SMTP_URL) => {
  expect(() => readConfig({ SMTP_URL })).toThrow(
    /^SMTP_URL: ((?!olga|example).)*percent-encoding((?!olga|example).)*%23 %2F %3F/,
  )
})

test.each([
  'smtps://olga%40mail.example:p%23s%2Fs%3Fs@mail.example',
  'smtp://olga:p@ss@mail.example/?name=wall.example',
  'smtp://mail.example:25?name=wall.example',
  'smtp://olga:pass@mail.example?name=wall@mail.example',
])('an encoded login is taken: %s', (SMTP_URL) => {
  expect(readConfig({ SMTP_URL, MAIL_FROM }).smtpUrl).toBe(SMTP_URL)
})

test.each([undefined, 'http://192.168.1.5:3000', 'http://[2001:db8::1]'])(
  'without MAIL_FROM and without a domain in PUBLIC_URL the start warns: %s',
  (PUBLIC_URL) => {
    const fixesWith = (SMTP_URL: string) =>
      readConfig({ PUBLIC_URL, SMTP_URL }).warnings.map(({ fix }) => fix)
    expect(fixesWith('smtp://olga:pass@mail.example')).toEqual(['Задайте MAIL_FROM'])
    expect(fixesWith('smtp://localhost:25')).toEqual(PUBLIC_URL ? ['Задайте MAIL_FROM'] : [])
  },
)

test('no message repeats a secret or a password', () => {
  const secrets = { APP_SECRET: 'short-secret', SMTP_URL: 'http://u:short-secret@mail.example' }
  for (const [name, value] of Object.entries(secrets)) {
    expect(() => readConfig({ [name]: value })).toThrow(/^((?!short-secret).)*$/)
  }
})
