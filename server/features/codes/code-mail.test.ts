import { expect, test } from 'vitest'
import { deriveKey } from '../../kernel/config/app-secret.ts'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { DEVICE } from '../../testing/http/client.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { type CodeMail, deriveCode, writeCodeMail } from './codes.mail.ts'

const ORIGIN = 'https://vsluh.example'

test('an operation has the same code of six digits in every release, with leading zeros', () => {
  const key = deriveKey('a-secret-that-only-tests-know-0123456789', 'codes')
  const codes = Array.from({ length: 2000 }, (_, index) => deriveCode(`operation ${index}`, key))
  expect(codes.filter((code) => !/^[0-9]{6}$/.test(code))).toEqual([])
  expect(codes.some((code) => code.startsWith('0'))).toBe(true)
  expect(codes[7]).toBe('892408')
})

test('the mail names the only place for its code, who asked and when, holds no link, and is marked as automatic', async () => {
  const { app, mailbox } = await mailAppForTest({ publicUrl: ORIGIN })
  const { id } = (await startAt(app, '/registrations', { email: 'olga@example.org' })).body
  const { subject, text, html, headerOf } = await mailbox.mailTo('olga@example.org')
  const code = app.codeFor(id)
  expect(subject).toBe(`${code} — код для регистрации · Вслух`)
  expect(text).toMatch(/Код запросили \d+ [а-я]+ в \d\d:\d\d по Москве, Firefox, Linux\./)
  expect(html).toContain(`>${code}</strong>`)
  expect(html.match(/<p /g)).toHaveLength(3)
  expect(text + html).not.toMatch(/<a |<img|https?:|www\./)
  expect(headerOf('auto-submitted')).toBe('auto-generated')
  expect(headerOf('x-auto-response-suppress')).toBe('All')
  expect(headerOf('otp-token')).toBe(`"${code}"; origin="${ORIGIN}"`)
})

test.each([
  ['https://xn--80ajyof.xn--p1ai', 'стена.рф', true],
  ['http://localhost:3000', 'localhost:3000', true],
  ['http://vsluh.example', 'vsluh.example', false],
  ['http://192.168.0.7:3000', '192.168.0.7:3000', false],
])(
  'the mail of %s names the site %s, and receivers learn its origin only where nobody between can read the code: %s',
  (origin, site, isTold) => {
    const { text, otp } = write({ origin })
    expect(text).toContain(`только на сайте ${site} и`)
    expect(otp?.origin).toBe(isTold ? origin : undefined)
  },
)

test('a mail repeats known names of browsers and systems only, whatever the caller sends', () => {
  expect(nameDevice({ ...DEVICE, userAgent: 'Firefox', os: 'Windows 11' })).toBe('Firefox, Windows')
  expect(nameDevice({ ...DEVICE, userAgent: 'Chrome', os: 'evil.example' })).toBe('Chrome')
  expect(nameDevice({ ...DEVICE, userAgent: 'Safari: call me', os: 'Linuxoid' })).toBe(null)
  expect(nameDevice(null)).toBe(null)
})

test.each([
  [20, '10 минут'],
  [4, '4 минуты'],
  [1, '1 минуту'],
])('a code that is sent %i minutes before its operation ends is valid for %s', (left, words) => {
  expect(write({ leftMs: left * 60_000 }).text).toContain(`Код действует ${words}.`)
})

test('the mail names the purpose of its code, and what to do if the receiver did not ask for it', () => {
  const { subject, text } = write({ purpose: 'account-deletion', device: 'Firefox, Linux' })
  expect(subject).toBe('428331 — код для удаления аккаунта · Вслух')
  expect(text.split('\n')).toEqual([
    '428331 — ваш код для удаления аккаунта.',
    '',
    'Введите его только на сайте vsluh.example и никому не сообщайте: он открывает доступ к аккаунту.',
    'Код действует 10 минут.',
    '',
    'Код запросили 1 января 1970 г. в 03:00 по Москве, Firefox, Linux.',
    'Если это были не вы, кто-то вошёл в ваш аккаунт. Завершите чужую сессию:',
    '',
    'https://vsluh.example/settings/devices',
  ])
  expect(write({}).text).toMatch(/\nЕсли это были не вы, просто удалите это письмо\.$/)
})

function write({
  origin = ORIGIN,
  leftMs = 1_200_000,
  ...mail
}: Partial<CodeMail> & { origin?: string; leftMs?: number }) {
  const login = { purpose: 'login', operationId: 'x', device: null, askedAt: 0 } as const
  const options = { key: Buffer.from('key'), appName: 'Вслух', ttlSeconds: 600 }
  const to = { to: 'olga@example.org', expiresAt: 0 }
  return writeCodeMail({ ...to, ...login, ...mail }, { ...options, origin, leftMs })
}
