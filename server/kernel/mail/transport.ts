import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Dkim } from './dkim.ts'
import { type Mail, smtpSender, toMessage } from './smtp.ts'

export type MailTransport = {
  /** Returns the SMTP server's answer. Rejects with MailFailure, or if `signal` aborts. */
  send(mail: Mail, signal?: AbortSignal): Promise<string>
  /** Where mails go, in Russian for the person at the terminal. */
  destination: string
}

type Options = {
  smtpUrl: string | undefined
  from: { name: string; address: string }
  dkim?: Dkim | undefined
  folder: string
  print: (text: string) => void
}

/** Sends over SMTP. Without a server it prints each mail and saves it as an .eml file. */
export function openMailTransport(options: Options): MailTransport {
  return options.smtpUrl === undefined ? saveMails(options) : sendMails(options, options.smtpUrl)
}

function sendMails({ from, dkim }: Options, smtpUrl: string): MailTransport {
  const send = smtpSender(smtpUrl, { dkim })
  return {
    destination: `через SMTP-сервер ${new URL(smtpUrl).host}`,
    send: (mail, signal) => send(toMessage(mail, from), signal),
  }
}

function saveMails({ from, folder, print }: Options): MailTransport {
  const composer = createTransport({ streamTransport: true, buffer: true })
  return {
    destination: `печатаются здесь и сохраняются в ${folder}`,
    async send(mail) {
      const { message } = await composer.sendMail(toMessage(mail, from))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(
        folder,
        `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}.eml`,
      )
      await writeFile(`${path}.part`, message as Buffer, { mode: 0o600 })
      await rename(`${path}.part`, path)
      print(`\n✉ Письмо для ${mail.to}\n  ${mail.subject}\n${indent(mail.text)}\n`)
      return 'saved'
    },
  }
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
