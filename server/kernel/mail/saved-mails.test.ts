import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { beforeEach, expect, test } from 'vitest'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { appForTest } from '../../testing/test-app.ts'
import { openMailTransport } from './transport.ts'

const FROM = { name: 'Вслух', address: 'no-reply@vsluh.example' }
const MAIL = { to: 'olga@example.org', subject: '012345 — код', text: 'Первая строка\nВторая' }

let folder: string
beforeEach(async () => {
  folder = join(await folderForTest(), 'mail')
})

async function readMails(from: string) {
  const names = await readdir(from)
  return Promise.all(names.map(async (name) => PostalMime.parse(await readFile(join(from, name)))))
}

test('without SMTP_URL a mail is printed, and saved as an .eml file that its owner alone can read', async () => {
  const printed: string[] = []
  const print = (text: string) => void printed.push(text)
  const transport = openMailTransport({ smtpUrl: undefined, from: FROM, folder, print })
  await transport.send(MAIL)
  expect(printed).toHaveLength(1)
  for (const part of [MAIL.to, MAIL.subject, 'Первая строка', 'Вторая']) {
    expect(printed[0]).toContain(part)
  }
  const [name = ''] = await readdir(folder)
  expect(name).toMatch(/\.eml$/)
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  expect((await readMails(folder))[0]?.text?.trim()).toBe(MAIL.text)
})

test('a code requested without SMTP_URL is in DATA_DIR/mail', async () => {
  const app = await appForTest({ config: { appName: 'Стена' } })
  const { body } = await startAt(app, '/registrations', { email: 'olga@example.org' })
  await app.logLine('mail sent')
  const to = [{ address: 'olga@example.org' }]
  const from = { name: 'Стена', address: 'no-reply@localhost' }
  const subject = `${app.codeFor(body.id)} — код для регистрации · Стена`
  expect(await readMails(join(app.dataDir, 'mail'))).toMatchObject([{ to, from, subject }])
})

test('a mail goes to exactly the given address, whatever characters it contains', async () => {
  const transport = openMailTransport({ smtpUrl: undefined, from: FROM, folder, print() {} })
  await transport.send({ ...MAIL, to: 'olga@example.org, victim@example.com' }).catch(() => {})
  await transport.send({ ...MAIL, subject: 'Код\r\nBcc: victim@example.com' })
  for (const { to, bcc, headers } of await readMails(folder)) {
    expect(bcc).toBeUndefined()
    expect(to ?? []).toHaveLength(1)
    expect(headers.map(({ key }) => key)).not.toContain('bcc')
  }
})
