import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'

/** One letter to one address. */
export type Mail = { to: string; subject: string; text: string }

export type MailTransport = {
  /** Rejects when the letter was not accepted for delivery. */
  send(mail: Mail): Promise<void>
  /** Where letters go, for the person at the terminal. */
  destination: string
  close(): void
}

type Options = {
  smtpUrl: string | undefined
  from: { name: string; address: string }
  /** Folder for letters where there is no SMTP server. */
  folder: string
  print: (text: string) => void
}

const SMTP_TIMEOUT_MS = 10_000

/** Sends over SMTP where a server is configured; else prints each letter and keeps it as an .eml file. */
export function openMailTransport(options: Options): MailTransport {
  return options.smtpUrl === undefined ? keepMails(options) : sendMails(options, options.smtpUrl)
}

function sendMails({ from }: Options, smtpUrl: string): MailTransport {
  const smtp = createTransport({
    url: smtpUrl,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    dnsTimeout: SMTP_TIMEOUT_MS,
  })
  return {
    destination: `через SMTP-сервер ${new URL(smtpUrl).host}`,
    async send(mail) {
      await smtp.sendMail(letter(mail, from))
    },
    close: () => smtp.close(),
  }
}

function keepMails({ from, folder, print }: Options): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true })
  return {
    destination: `печатаются здесь и сохраняются в ${folder}`,
    async send(mail) {
      const { message } = await composer.sendMail(letter(mail, from))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(
        folder,
        `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`,
      )
      await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 })
      await rename(`${path}.part`, path)
      print(`\n✉ Письмо для ${mail.to}\n  ${mail.subject}\n${indent(mail.text)}\n`)
    },
    close: () => composer.close(),
  }
}

/** Addresses go in as objects: nothing in them is parsed as a list or a header. */
function letter(mail: Mail, from: Options['from']) {
  return {
    ...mail,
    from,
    to: { name: '', address: mail.to },
    disableUrlAccess: true,
    disableFileAccess: true,
  }
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
