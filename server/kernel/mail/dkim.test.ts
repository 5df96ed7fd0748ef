import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderForTest } from '../../testing/folder-for-test.ts'
import type { ReceivedMail } from '../../testing/mailbox.ts'
import { startAt } from '../../testing/sign-in-calls.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { ConfigError } from '../config/config-reader.ts'
import { readDkim } from './dkim.ts'
import { sendTestMail } from './test-mail.service.ts'

const PEM = { type: 'pkcs8', format: 'pem' } as const
const mailFrom = 'wall@vsluh.example'

async function keyFile(text: string): Promise<string> {
  const path = join(await folderForTest(), 'key.pem')
  await writeFile(path, text)
  return path
}

/** Returns what a mail's signature says of itself. */
function signatureOf({ headerOf }: ReceivedMail): Record<string, string> {
  const tags = (headerOf('dkim-signature') ?? '').replaceAll(/\s/g, '').split(';')
  return Object.fromEntries(tags.map((tag) => tag.split('=', 2)))
}

test('every mail is signed for the domain of MAIL_FROM (DKIM), a code with its header OTP-Token', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const dkim = { keyFile: await keyFile(`${privateKey.export(PEM)}`), selector: 'wall' }
  const { app, mailbox } = await mailAppForTest({ dkim, mailFrom })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  const signed = { a: 'rsa-sha256', d: 'vsluh.example', s: 'wall' }
  const { h = '', ...code } = signatureOf(await mailbox.mailTo('olga@example.org'))
  expect(code).toMatchObject(signed)
  const fields = ['from', 'to', 'subject', 'date', 'otp-token']
  expect(h.split(':')).toEqual(expect.arrayContaining(fields))

  const smtpUrl = mailbox.url
  await sendTestMail('petr@example.org', { smtpUrl, appName: 'Вслух', mailFrom, dkim })
  expect(signatureOf(await mailbox.mailTo('petr@example.org'))).toMatchObject(signed)
})

test('a key that cannot be read, or is no long RSA key, stops the start with a sentence', async () => {
  const short = generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export(PEM)
  const elliptic = generateKeyPairSync('ed25519').privateKey.export(PEM)
  const paths = ['/nowhere', await keyFile('no key'), await keyFile(`${short}`)]
  for (const path of [...paths, await keyFile(`${elliptic}`)]) {
    const read = readDkim({ dkim: { keyFile: path, selector: 'wall' }, mailFrom })
    await expect(read).rejects.toThrow(ConfigError)
    await expect(read).rejects.toThrow(path)
  }
  expect(await readDkim({ dkim: undefined, mailFrom })).toBeUndefined()
})
