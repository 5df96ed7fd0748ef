import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { beforeEach, expect, test } from 'vitest'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { openMailTransport } from './transport.ts'

const FROM = { appName: 'Вслух', mailFrom: 'no-reply@vsluh.example' }
const WALL = { ...FROM, smtpUrl: undefined, publicUrl: undefined, dkim: undefined }
const MAIL = { to: 'olga@example.org', subject: '012345 — код', text: 'Первая строка\nВторая' }

let dataDir: string
let folder: string
beforeEach(async () => {
  dataDir = await folderForTest()
  folder = join(dataDir, 'mail')
})

async function readMails() {
  const names = await readdir(folder)
  return Promise.all(
    names.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))),
  )
}

test('without SMTP_URL a mail is printed, and saved as an .eml file that its owner alone can read', async () => {
  const printed: string[] = []
  const print = (text: string) => void printed.push(text)
  const transport = await openMailTransport({ ...WALL, dataDir }, print)
  await transport.send(MAIL)
  expect(printed).toHaveLength(1)
  for (const part of [MAIL.to, MAIL.subject, 'Первая строка', 'Вторая']) {
    expect(printed[0]).toContain(part)
  }
  const [name = ''] = await readdir(folder)
  expect(name).toMatch(/\.eml$/)
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  const [{ text, from, to, subject } = {}] = await readMails()
  expect({ text: text?.trim(), subject, to }).toEqual({
    ...MAIL,
    to: [{ address: MAIL.to, name: '' }],
  })
  expect(from).toEqual({ name: FROM.appName, address: FROM.mailFrom })
})

test('a mail goes to exactly the given address, whatever characters it contains', async () => {
  const transport = await openMailTransport({ ...WALL, dataDir }, () => {})
  await transport.send({ ...MAIL, to: 'olga@example.org, victim@example.com' }).catch(() => {})
  await transport.send({ ...MAIL, subject: 'Код\r\nBcc: victim@example.com' })
  for (const { to, bcc, headers } of await readMails()) {
    expect(bcc).toBeUndefined()
    expect(to ?? []).toHaveLength(1)
    expect(headers.map(({ key }) => key)).not.toContain('bcc')
  }
})
