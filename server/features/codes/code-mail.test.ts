import { expect, onTestFinished, test } from 'vitest'
import { nameDevice } from '../../kernel/mail/mail-words.ts'
import { DEVICE } from '../../testing/client.ts'
import { openMailbox } from '../../testing/mailbox.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { appForTest } from '../../testing/test-app.ts'
import { writeCodeMail } from './codes.mail.ts'

test('the mail names the only place for its code, who asked and when, holds no link, and is marked as automatic', async () => {
  const mailbox = await openMailbox()
  onTestFinished(() => mailbox.close())
  const config = { smtpUrl: mailbox.url, publicUrl: 'https://vsluh.example' }
  const app = await appForTest({ config })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  const { text, autoSubmitted } = await mailbox.mailTo('olga@example.org')
  expect(text).toContain('только на сайте vsluh.example')
  expect(text).toMatch(/Код запросили \d+ [а-я]+ в \d\d:\d\d по Москве/)
  expect(text).not.toMatch(/https?:|www\./)
  expect(autoSubmitted).toBe('auto-generated')
})

test('a mail repeats known names of browsers and systems only, whatever the caller sends', () => {
  expect(nameDevice({ ...DEVICE, userAgent: 'Firefox', os: 'Windows 11' })).toBe('Firefox, Windows')
  expect(nameDevice({ ...DEVICE, userAgent: 'Chrome', os: 'evil.example' })).toBe('Chrome')
  expect(nameDevice({ ...DEVICE, userAgent: 'Safari: call me', os: 'Linuxoid' })).toBe(null)
  expect(nameDevice(null)).toBe(null)
})

test('the mail names the minutes that its code has left: ten once it is sent, fewer where the operation ends sooner', () => {
  const minutesIn = (leftMinutes: number) => {
    const options = { key: Buffer.from('key'), appName: 'Вслух', origin: 'http://localhost' }
    const { text } = writeCodeMail(
      { to: 'olga@example.org', purpose: 'login', operationId: 'x', ...ASKED },
      { ...options, ttlSeconds: 600, leftMs: leftMinutes * 60_000 },
    )
    return /действует (\d+ [а-я]+)/.exec(text)?.[1]
  }
  expect(minutesIn(20)).toBe('10 минут')
  expect(minutesIn(4)).toBe('4 минуты')
  expect(minutesIn(1)).toBe('1 минуту')
})

const ASKED = { device: null, askedAt: 0, expiresAt: 0 }
