import { createHash, createVerify, generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startAt } from '../../testing/calls/sign-in-calls.ts'
import { folderForTest } from '../../testing/process/folder-for-test.ts'
import { mailAppForTest } from '../../testing/test-app.ts'
import { ConfigError } from '../config/config-reader.ts'
import { readDkim } from './dkim.ts'
import { sendTestMail } from './test-mail.service.ts'

const PEM = { type: 'pkcs8', format: 'pem' } as const
const mailFrom = 'wall@vsluh.example'
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })

async function keyFile(text: string): Promise<string> {
  const path = join(await folderForTest(), 'key.pem')
  await writeFile(path, text)
  return path
}

/** Relaxed canonicalization of a header field and of a body (RFC 6376, sections 3.4.2 and 3.4.4). */
const relaxHeader = (name: string, value: string) =>
  `${name.toLowerCase()}:${value.replace(/\s+/g, ' ').trim()}`
const relaxBody = (body: string) =>
  body
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?=\r\n)/g, '')
    .replace(/(\r\n)*$/, '\r\n')

/** Splits a text into its parts with a name; of two with the same name the last counts. */
function partsByName(text: string, between: string | RegExp, sign: string) {
  const parts = text.split(between).map((part) => {
    const at = part.indexOf(sign)
    return [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1)] as const
  })
  return new Map(parts)
}

/** Verifies the signature of a mail as its receiver does. Returns what the signature says of itself. */
function verifySignature(source: string) {
  const [head = '', body = ''] = source.split(/\r\n\r\n(.*)/s)
  const fields = partsByName(head, /\r\n(?![ \t])/, ':')
  const signature = fields.get('dkim-signature') ?? ''
  const tags = partsByName(signature.replace(/\s/g, ''), ';', '=')
  const signed = (tags.get('h') ?? '').split(':').flatMap((name) => {
    const value = fields.get(name.toLowerCase())
    return value === undefined ? [] : [relaxHeader(name, value)]
  })
  const unsigned = relaxHeader('dkim-signature', signature.replace(/(;\s*b=)[^;]*$/, '$1'))
  const verify = createVerify('sha256').update([...signed, unsigned].join('\r\n'), 'latin1')
  const hash = createHash('sha256').update(relaxBody(body), 'latin1').digest('base64')
  return {
    tags: Object.fromEntries(tags),
    isBodyWhole: hash === tags.get('bh'),
    isSigned: verify.verify(keys.publicKey, tags.get('b') ?? '', 'base64'),
  }
}

test('every mail has a valid DKIM signature for the domain of MAIL_FROM, which covers what its reader sees', async () => {
  const dkim = { keyFile: await keyFile(`${keys.privateKey.export(PEM)}`), selector: 'wall' }
  const { app, mailbox } = await mailAppForTest({ dkim, mailFrom })
  await startAt(app, '/registrations', { email: 'olga@example.org' })
  const { source } = await mailbox.mailTo('olga@example.org')
  const { tags, ...verified } = verifySignature(source)
  expect(tags).toMatchObject({ a: 'rsa-sha256', d: 'vsluh.example', s: 'wall' })
  for (const name of ['from', 'to', 'subject', 'date', 'otp-token']) {
    expect(tags.h?.split(':')).toContain(name)
  }
  expect(verified).toEqual({ isBodyWhole: true, isSigned: true })

  const smtpUrl = mailbox.url
  await sendTestMail('petr@example.org', { smtpUrl, appName: 'Вслух', mailFrom, dkim })
  const tested = verifySignature((await mailbox.mailTo('petr@example.org')).source)
  expect(tested).toMatchObject({ isBodyWhole: true, isSigned: true })
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
