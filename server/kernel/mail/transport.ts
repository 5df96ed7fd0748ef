import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createTransport } from 'nodemailer'
import type { Config } from '../config/config.ts'
import { ifExists } from '../config/read-if-exists.ts'
import { replaceFile } from '../config/replace-file.ts'
import { type Dkim, readDkim } from './dkim.ts'
import { offersSmtpUtf8, type Relay } from './relay.ts'
import { createSmtpSender, type Mail, needsSmtpUtf8, toMessage } from './smtp.ts'

export type MailTransport = {
  /** Returns the SMTP server's answer. Rejects with MailFailure, or if `signal` aborts. */
  send(mail: Mail, signal?: AbortSignal): Promise<string>
  /** Resolves to whether the mail server accepts the address; true while that is unknown. */
  canSendTo(address: string): Promise<boolean>
  /** Where mails go, in Russian for the person at the terminal. */
  destination: string
}

type Settings = Pick<Config, 'smtpUrl' | 'publicUrl' | 'appName' | 'mailFrom' | 'dkim' | 'dataDir'>
type Print = (text: string) => void

/** Creates a transport that sends mails over SMTP or, without a server, prints and saves them. */
export async function openMailTransport(config: Settings, print: Print): Promise<MailTransport> {
  const { smtpUrl: url, publicUrl, appName, mailFrom } = config
  const dkim = await readDkim(config)
  const from = { name: appName, address: mailFrom }
  if (url === undefined) return folderTransport(from, folderOf(config.dataDir), print)
  return smtpTransport(from, { url, publicUrl }, dkim)
}

const folderOf = (dataDir: string) => join(dataDir, 'mail')

type Sender = { name: string; address: string }

const ASK_MS = 5000
/** After this time the server is asked again about SMTPUTF8. */
const ANSWER_MS = 300_000
const PATIENCE_MS = 250

function smtpTransport(from: Sender, relay: Relay, dkim: Dkim | undefined): MailTransport {
  const send = createSmtpSender(relay, { dkim })
  const answers = new LRUCache<'SMTPUTF8', boolean>({
    max: 1,
    ttl: ANSWER_MS,
    allowStale: true,
    allowStaleOnFetchRejection: true,
    fetchMethod: () => offersSmtpUtf8(relay, ASK_MS),
  })
  const offersUtf8 = async () => (await answers.fetch('SMTPUTF8')) ?? true
  return {
    destination: `через SMTP-сервер ${new URL(relay.url).host}`,
    send: (mail, signal) => send(toMessage(mail, from), signal),
    canSendTo: async (address) =>
      !needsSmtpUtf8(address) || Promise.race([offersUtf8(), delay(PATIENCE_MS, true)]),
  }
}

function folderTransport(from: Sender, folder: string, print: Print): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true })
  return {
    destination: `печатаются здесь и сохраняются в ${folder}`,
    canSendTo: async () => true,
    async send(mail) {
      const { message } = await composer.sendMail(toMessage(mail, from))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(
        folder,
        `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`,
      )
      await replaceFile(path, message as Buffer)
      const text = mail.text.replace(/^/gm, '  ')
      print(`\n✉ Письмо для ${mail.to}\n  ${mail.subject}\n${text}\n`)
      return 'saved'
    },
  }
}

const KEPT_MS = 7 * 86_400_000

export async function removeOldMails(dataDir: string): Promise<void> {
  const folder = folderOf(dataDir)
  for (const name of (await ifExists(readdir(folder))) ?? []) {
    if (!/\.eml(?:\.[\w-]+)?$/.test(name)) continue
    const path = join(folder, name)
    const found = await ifExists(stat(path))
    if (found && Date.now() - found.mtimeMs > KEPT_MS) await rm(path, { force: true })
  }
}
